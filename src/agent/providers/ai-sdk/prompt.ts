import type { Content, ContentPart, MediaPart, ReasoningPart } from '../../../sample/content.ts'
import { textOf } from '../../../sample/content.ts'
import type { AssistantMessage, Message, ToolMessage } from '../../messages.ts'
import type { Part, PromptMessage, ProviderData, SpecificationVersion } from './types.ts'

/** Providers refuse messages without content. */
const NO_CONTENT = '(no content)'

/** A conversation as the AI SDK's interface has it. */
export function toPrompt(messages: readonly Message[], version: SpecificationVersion): PromptMessage[] {
  return messages.map((message): PromptMessage => {
    switch (message.role) {
      case 'system':
        return { role: 'system', content: message.content }
      case 'user':
        return { role: 'user', content: parts(message.content, version) }
      case 'assistant':
        return { role: 'assistant', content: assistantParts(message, version) }
      default:
        return { role: 'tool', content: [toolResult(message, version)] }
    }
  })
}

function assistantParts(message: AssistantMessage, version: SpecificationVersion): Part[] {
  const { toolCalls = [] } = message
  const calls = toolCalls.map(({ id, name, arguments: input, providerData }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input,
    ...options(providerData),
  }))
  const said = message.content === '' && calls.length > 0 ? [] : parts(message.content, version)
  return [...said, ...calls]
}

function parts(content: Content, version: SpecificationVersion): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content === '' ? NO_CONTENT : content }]
  const result = content.flatMap((part) => {
    if (part.type === 'text')
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...options(part.providerData) }]
    return [part.type === 'reasoning' ? reasoning(part) : file(part, version)]
  })
  return result.length > 0 ? result : [{ type: 'text', text: NO_CONTENT }]
}

/** The AI SDK calls it by provider; where all that is known is a signature, it is Anthropic's kind of proof. */
function reasoning({ text, signature, redacted, providerData }: ReasoningPart): Part {
  if (providerData) return { type: 'reasoning', text, providerOptions: providerData }
  if (redacted) return { type: 'reasoning', text: '', ...options({ anthropic: { redactedData: text } }) }
  return {
    type: 'reasoning',
    text,
    ...options(signature === undefined ? undefined : { anthropic: { signature } }),
  }
}

function file(part: MediaPart, version: SpecificationVersion): Part {
  const { mediaType, data } = part
  return {
    type: 'file',
    mediaType,
    data: version === 'v4' ? { type: 'data', data } : data,
    ...(part.type === 'document' && part.filename !== undefined ? { filename: part.filename } : {}),
    ...(part.type === 'image' && part.detail ? options({ openai: { imageDetail: part.detail } }) : {}),
  }
}

function toolResult(
  { toolCallId, toolName, content, error }: ToolMessage,
  version: SpecificationVersion,
): Part {
  return {
    type: 'tool-result',
    toolCallId,
    toolName,
    output: toolOutput(content, error !== undefined, version),
  }
}

function toolOutput(content: Content, isError: boolean, version: SpecificationVersion): Part {
  const hasMedia = typeof content !== 'string' && content.some(({ type }) => type !== 'text')
  if (!hasMedia || isError) return { type: isError ? 'error-text' : 'text', value: textOf(content) }
  return {
    type: 'content',
    value: (content as readonly ContentPart[]).map((part) => resultPart(part, version)),
  }
}

function resultPart(part: ContentPart, version: SpecificationVersion): Part {
  if (part.type === 'text' || part.type === 'reasoning') return { type: 'text', text: part.text }
  const { mediaType, data, type } = part
  if (version === 'v2') return { type: 'media', mediaType, data }
  if (version === 'v3') return { type: type === 'image' ? 'image-data' : 'file-data', mediaType, data }
  return { type: 'file', mediaType, data: { type: 'data', data } }
}

function options(data: ProviderData | undefined): { providerOptions?: ProviderData } {
  return data ? { providerOptions: data } : {}
}
