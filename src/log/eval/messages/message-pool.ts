import type { Message } from '../../../agent/messages.ts'
import type { ToolDescription } from '../../../agent/model.ts'
import type { ModelEvent } from '../../../agent/transcript.ts'
import { toEvalTool } from '../header/json-schema.ts'
import type { ChatMessage } from '../schema/values.ts'
import type { Attachments } from './attachments.ts'
import { toChatMessage } from './messages.ts'

export interface PooledCall {
  /** Ranges of the pool, ends excluded. */
  readonly refs: [number, number][]
  /** Of the answer's message. */
  readonly outputId: string
  readonly tools: ReturnType<typeof toEvalTool>[]
  /** As they were described, where Inspect's form has no room for all of it. */
  readonly ownTools: readonly ToolDescription[] | undefined
}

/** What the model calls of one sample have in common: their messages, each kept once, the parts of raw requests, and their tools. */
export class MessagePool {
  readonly messages: ChatMessage[] = []
  readonly calls: unknown[] = []
  /** By their JSON. */
  readonly #ids = new Map<string, string>()
  readonly #attachments: Attachments
  readonly #prefix: string
  #tools: readonly ToolDescription[] = []
  #newIds = 0

  constructor(prefix: string, attachments: Attachments) {
    this.#prefix = prefix
    this.#attachments = attachments
  }

  /** Takes what a call adds. */
  add({ inputRefs, input, output, tools, call }: ModelEvent): PooledCall {
    const from = this.messages.length
    for (const message of input) this.#say(message)
    const refs = inputRefs?.map(([start, end]): [number, number] => [start, end])
    const outputId = output ? this.#say(output.message) : this.#newId()
    this.calls.push(...(call?.items ?? []))
    this.#tools = tools ?? this.#tools
    return {
      refs: refs ?? (input.length > 0 ? [[from, from + input.length]] : []),
      outputId,
      tools: this.#tools.map(toEvalTool),
      ownTools: tools,
    }
  }

  /** Messages as the sample ended with, under the ids that they had in its calls. */
  final(messages: readonly Message[]): ChatMessage[] {
    const used = new Set<string>()
    return messages.map((message) => {
      const pooled = this.#ids.get(JSON.stringify(message))
      const id = pooled === undefined || used.has(pooled) ? this.#newId() : pooled
      used.add(id)
      return toChatMessage(message, id)
    })
  }

  #say(message: Message): string {
    const id = this.#newId()
    const chat = toChatMessage(message, id)
    this.#ids.set(JSON.stringify(message), id)
    this.messages.push({ ...chat, content: this.#attachments.detach(chat.content) })
    return id
  }

  #newId(): string {
    return `${this.#prefix}-m${this.#newIds++}`
  }
}
