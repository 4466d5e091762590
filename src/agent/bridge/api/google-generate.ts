import { z } from 'zod'
import type { ContentPart } from '../../../sample/content.ts'
import type { ToolCall } from '../../messages.ts'
import type { GenerateConfig, ModelOutput, StopReason, ToolChoice, ToolDescription } from '../../model.ts'
import { answerOf } from './answer.ts'
import { type Api, type ApiCall, ApiError } from './api.ts'
import { Conversation, contentOf, jsonObject, mediaFromType, newId, optional, parseBody } from './parse.ts'

const part = z.object({
  text: optional(z.string()),
  thought: optional(z.boolean()),
  thoughtSignature: optional(z.string()),
  inlineData: optional(z.object({ mimeType: z.string(), data: z.string() })),
  fileData: optional(z.unknown()),
  functionCall: optional(
    z.object({ id: optional(z.string()), name: z.string(), args: optional(jsonObject) }),
  ),
  functionResponse: optional(
    z.object({ id: optional(z.string()), name: z.string(), response: optional(jsonObject) }),
  ),
})
type Part = z.output<typeof part>
const content = z.object({ role: optional(z.string()), parts: optional(z.array(part)) })

const declaration = z.object({
  name: z.string(),
  description: optional(z.string()),
  parameters: optional(jsonObject),
  parametersJsonSchema: optional(jsonObject),
})

const schema = z.object({
  contents: z.union([z.array(content).min(1), content.transform((one) => [one])]),
  systemInstruction: optional(content),
  tools: optional(z.array(z.looseObject({ functionDeclarations: optional(z.array(declaration)) }))),
  toolConfig: optional(
    z.object({
      functionCallingConfig: optional(
        z.object({ mode: optional(z.string()), allowedFunctionNames: optional(z.array(z.string())) }),
      ),
    }),
  ),
  generationConfig: optional(
    z.object({
      maxOutputTokens: optional(z.number()),
      temperature: optional(z.number()),
      topP: optional(z.number()),
      topK: optional(z.number()),
      seed: optional(z.number()),
      stopSequences: optional(z.array(z.string())),
      candidateCount: optional(z.number()),
      responseSchema: optional(jsonObject),
      responseJsonSchema: optional(jsonObject),
      thinkingConfig: optional(z.object({ thinkingBudget: optional(z.number()) })),
    }),
  ),
})
type Body = z.output<typeof schema>

/** Google's generateContent: https://ai.google.dev/api/generate-content */
export const googleGenerate: Api = {
  parse(given, { model = 'unknown', stream = false }): ApiCall {
    const body = parseBody(schema, given)
    if ((body.generationConfig?.candidateCount ?? 1) !== 1)
      throw new ApiError(400, 'only one answer can be asked for (candidateCount: 1)')
    const tools = body.tools ?? []
    return {
      model,
      stream,
      ignored: tools.flatMap(({ functionDeclarations, ...other }) =>
        functionDeclarations ? [] : Object.keys(other).map((name) => `tool ${name}`),
      ),
      request: {
        messages: conversation(body).messages,
        tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(toolOf)),
        toolChoice: toolChoice(body.toolConfig?.functionCallingConfig),
        config: config(body.generationConfig),
      },
    }
  },

  render: answer,

  /** All in one event: a program reads as many as come. */
  *events(output, call) {
    yield { data: answer(output, call) }
  },

  error: ({ status, message }) => ({ error: { code: status, message, status: errorStatus(status) } }),
}

function errorStatus(status: number): string {
  const names: Readonly<Record<number, string>> = {
    403: 'PERMISSION_DENIED',
    404: 'NOT_FOUND',
    429: 'RESOURCE_EXHAUSTED',
  }
  return names[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
}

const FINISH: Readonly<Record<StopReason, string>> = {
  stop: 'STOP',
  'max-tokens': 'MAX_TOKENS',
  'context-length': 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
  unknown: 'OTHER',
}

function answer(output: ModelOutput, { model }: ApiCall): unknown {
  const { reasoning, text, toolCalls } = answerOf(output)
  const { inputTokens, outputTokens, cacheReadTokens = 0, reasoningTokens = 0 } = output.usage
  const parts = [
    ...reasoning.map((thought) => ({
      text: thought.text,
      thought: true,
      thoughtSignature: thought.signature,
    })),
    ...(text === '' ? [] : [{ text }]),
    ...toolCalls.map(({ id, name, arguments: args }) => ({ functionCall: { id, name, args } })),
  ]
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: FINISH[output.stopReason] }],
    usageMetadata: {
      promptTokenCount: inputTokens,
      candidatesTokenCount: Math.max(0, outputTokens - reasoningTokens),
      thoughtsTokenCount: reasoningTokens,
      cachedContentTokenCount: cacheReadTokens,
      totalTokenCount: inputTokens + outputTokens,
    },
    modelVersion: model,
    responseId: newId('resp'),
  }
}

/** Calls without an id are answered in their order, by name. */
function conversation({ systemInstruction, contents }: Body): Conversation {
  const result = new Conversation()
  const system = (systemInstruction?.parts ?? []).map(({ text }) => text ?? '').join('\n')
  if (system !== '') result.add({ role: 'system', content: system })
  const open: ToolCall[] = []
  for (const said of contents) {
    const parts = said.parts ?? []
    if (said.role === 'model') addAnswer(result, parts, open)
    else addUser(result, parts, open)
  }
  return result
}

function addAnswer(result: Conversation, parts: readonly Part[], open: ToolCall[]): void {
  const toolCalls = parts.flatMap(({ functionCall: call }): ToolCall[] =>
    call ? [{ id: call.id ?? newId('call'), name: call.name, arguments: call.args ?? {} }] : [],
  )
  open.push(...toolCalls)
  result.add({
    role: 'assistant',
    content: contentOf(parts.flatMap(partsOf)),
    ...(toolCalls.length > 0 && { toolCalls }),
  })
}

function addUser(result: Conversation, parts: readonly Part[], open: ToolCall[]): void {
  for (const { functionResponse: response } of parts) {
    if (!response) continue
    const index = open.findIndex(({ id, name }) =>
      response.id ? id === response.id : name === response.name,
    )
    const [call] = index === -1 ? [] : open.splice(index, 1)
    result.addResult(call?.id ?? response.id ?? newId('call'), resultText(response.response))
  }
  const said = parts.flatMap(partsOf)
  if (said.length > 0) result.add({ role: 'user', content: contentOf(said) })
}

function resultText(response: Readonly<Record<string, unknown>> = {}): string {
  const [only] = Object.values(response)
  return Object.keys(response).length === 1 && typeof only === 'string' ? only : JSON.stringify(response)
}

function partsOf({ text, thought, thoughtSignature: signature, inlineData, fileData }: Part): ContentPart[] {
  if (fileData !== undefined) throw new ApiError(400, 'files can only be given as inlineData')
  if (inlineData) return [mediaFromType(inlineData.mimeType, inlineData.data)]
  if (text === undefined || text === '') return []
  return thought ? [{ type: 'reasoning', text, signature }] : [{ type: 'text', text }]
}

function toolOf({
  name,
  description,
  parameters,
  parametersJsonSchema,
}: z.output<typeof declaration>): ToolDescription {
  const given =
    parametersJsonSchema ?? (lowerTypes(parameters) as Readonly<Record<string, unknown>> | undefined)
  return { name, description: description ?? '', parameters: given ?? { type: 'object', properties: {} } }
}

/** Google writes the types of its schemas in capitals. */
function lowerTypes(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(lowerTypes)
  if (typeof given !== 'object' || given === null) return given
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      key === 'type' && typeof value === 'string' ? value.toLowerCase() : lowerTypes(value),
    ]),
  )
}

function toolChoice(
  given: { mode?: string; allowedFunctionNames?: string[] } | undefined,
): ToolChoice | undefined {
  const mode = given?.mode?.toLowerCase()
  const [only, ...more] = given?.allowedFunctionNames ?? []
  if (mode === 'any') return only !== undefined && more.length === 0 ? { name: only } : 'any'
  return mode === 'none' || mode === 'auto' ? mode : undefined
}

function config(given: Body['generationConfig']): GenerateConfig {
  const schemaGiven = given?.responseJsonSchema ?? (lowerTypes(given?.responseSchema) as object | undefined)
  return {
    maxOutputTokens: given?.maxOutputTokens,
    temperature: given?.temperature,
    topP: given?.topP,
    topK: given?.topK,
    seed: given?.seed,
    stopSequences: given?.stopSequences,
    reasoningTokens: given?.thinkingConfig?.thinkingBudget,
    responseSchema: schemaGiven && { name: 'response', schema: { ...schemaGiven } },
  }
}
