import { isDeepStrictEqual } from 'node:util'
import type { Message } from '../../agent/messages.ts'
import type { ModelEvent } from '../../agent/transcript.ts'
import type { Attachments } from './attachments.ts'
import { toChatMessage } from './messages.ts'
import type { ChatMessage } from './schema/values.ts'

/** One conversation of a sample: places in the pool of what was said so far, and the answer that comes next in it. */
interface Conversation {
  readonly places: number[]
  readonly said: Message[]
  answer?: { message: Message; id: string }
}

export interface PooledCall {
  /** Ranges of the pool, ends excluded. */
  readonly refs: [number, number][]
  /** Of the answer's message. */
  readonly outputId: string
}

/** Messages of one sample's model calls, each kept once however many calls it was part of. */
export class MessagePool {
  readonly messages: ChatMessage[] = []
  readonly #conversations: Conversation[] = []
  readonly #attachments: Attachments
  readonly #prefix: string
  #ids = 0

  constructor(prefix: string, attachments: Attachments) {
    this.#prefix = prefix
    this.#attachments = attachments
  }

  /** Takes what a call adds to its conversation. */
  add({ inputFrom, input, output }: ModelEvent): PooledCall {
    const conversation = this.#conversationOf(inputFrom)
    for (const message of input) this.#say(conversation, message)
    const outputId = this.#newId()
    conversation.answer = output && { message: output.message, id: outputId }
    return { refs: ranges(conversation.places), outputId }
  }

  /** Messages as the sample ended with, under the ids that they had in its calls. */
  final(messages: readonly Message[]): ChatMessage[] {
    const { said = [], places = [], answer } = this.#conversations.at(-1) ?? {}
    return messages.map((message, index) => {
      const place = places[index]
      const isSame = place !== undefined && isDeepStrictEqual(said[index], message)
      const pooled = isSame ? this.messages[place]?.id : undefined
      const answered =
        index === said.length && isDeepStrictEqual(answer?.message, message) ? answer?.id : undefined
      return toChatMessage(message, pooled ?? answered ?? this.#newId())
    })
  }

  #conversationOf(inputFrom: number): Conversation {
    const index = this.#conversations.findLastIndex(({ said }) => said.length === inputFrom)
    const [found = { places: [], said: [] }] =
      inputFrom === 0 || index === -1 ? [] : this.#conversations.splice(index, 1)
    this.#conversations.push(found)
    return found
  }

  #say(conversation: Conversation, message: Message): void {
    const { answer } = conversation
    const isAnswer = answer !== undefined && isDeepStrictEqual(answer.message, message)
    const chat = toChatMessage(message, isAnswer ? answer.id : this.#newId())
    conversation.answer = undefined
    conversation.said.push(message)
    conversation.places.push(this.messages.length)
    this.messages.push({ ...chat, content: this.#attachments.detach(chat.content) })
  }

  #newId(): string {
    return `${this.#prefix}-m${this.#ids++}`
  }
}

function ranges(places: readonly number[]): [number, number][] {
  const result: [number, number][] = []
  for (const place of places) {
    const last = result.at(-1)
    if (last && last[1] === place) last[1]++
    else result.push([place, place + 1])
  }
  return result
}
