import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { ContentPart, MediaPart } from '../../../sample/content.ts'
import type { Message, ToolCall, ToolMessage } from '../../messages.ts'
import { ApiError } from './api.ts'

/** @throws ApiError that names the fields at fault */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new ApiError(400, `the request cannot be read: ${z.prettifyError(parsed.error)}`)
}

export const jsonObject = z.record(z.string(), z.unknown())
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined)

/** Content as an API has it: one text alone stays a text. */
export function contentOf(parts: readonly ContentPart[]): string | readonly ContentPart[] {
  const [only] = parts
  if (only === undefined) return ''
  return parts.length === 1 && only.type === 'text' ? only.text : parts
}

/** @throws ApiError for media that would have to be fetched */
export function mediaFromUri(type: MediaPart['type'], uri: string, filename?: string): MediaPart {
  const [, mediaType, data] = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/s.exec(uri) ?? []
  if (mediaType === undefined || data === undefined)
    throw new ApiError(400, `only data URIs can be given as ${type}, not addresses`)
  return type === 'document' ? { type, mediaType, data, filename } : { type, mediaType, data }
}

export function mediaFromType(mediaType: string, data: string): MediaPart {
  const [kind] = mediaType.split('/')
  const type = kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document'
  return { type, mediaType, data }
}

/** A call of a tool as text; arguments that are no JSON object are kept as an error. */
export function toolCallOf(call: { id: string; name: string; text: string }): ToolCall {
  const { id, name, text } = call
  try {
    const value: unknown = text.trim() === '' ? {} : JSON.parse(text)
    return { id, name, arguments: jsonObject.parse(value) }
  } catch {
    return { id, name, arguments: {}, parseError: `not a JSON object: ${text.slice(0, 200)}` }
  }
}

/** Builds a conversation; results of tools get the name of the tool that was called. */
export class Conversation {
  readonly messages: Message[] = []
  readonly #names = new Map<string, string>()

  add(message: Message): void {
    if (message.role === 'assistant')
      for (const { id, name } of message.toolCalls ?? []) this.#names.set(id, name)
    this.messages.push(message)
  }

  /** Adds to the last message where that is of an assistant: APIs that list calls apart from texts mean one answer. */
  addToAnswer(parts: readonly ContentPart[], toolCalls: readonly ToolCall[]): void {
    const last = this.messages.at(-1)
    if (last?.role !== 'assistant') {
      this.add({ role: 'assistant', content: contentOf(parts), ...(toolCalls.length > 0 && { toolCalls }) })
      return
    }
    const before: readonly ContentPart[] =
      typeof last.content === 'string' ? textParts(last.content) : last.content
    const calls = [...(last.toolCalls ?? []), ...toolCalls]
    this.messages.pop()
    this.add({
      role: 'assistant',
      content: contentOf([...before, ...parts]),
      ...(calls.length > 0 && { toolCalls: calls }),
    })
  }

  addResult(toolCallId: string, content: ToolMessage['content'], failed = false): void {
    const toolName = this.#names.get(toolCallId) ?? 'unknown'
    this.messages.push({
      role: 'tool',
      content,
      toolCallId,
      toolName,
      ...(failed && { error: { kind: 'failed', message: 'the tool failed' } }),
    })
  }
}

export function textParts(text: string): ContentPart[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

export function newId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`
}
