import { textOf } from '../../sample/content.ts'
import type { AgentContext } from '../agent.ts'
import type { Message } from '../messages.ts'
import type { Model } from '../model.ts'

/** Makes a conversation shorter that a model can no longer hold. What it returns takes the conversation's place; undefined: it cannot. */
export interface Compaction {
  /** In the log. */
  readonly name: string
  compact(
    messages: readonly Message[],
    parts: { model: Model; context: AgentContext },
  ): Promise<readonly Message[] | undefined>
}

const LEFT_OUT = '[Earlier messages were left out to make room.]'

/** What comes before the work: system messages and what the user asked for first. */
function headOf(messages: readonly Message[]): number {
  const first = messages.findIndex(({ role }) => role === 'user')
  return first === -1 ? messages.findLastIndex(({ role }) => role === 'system') + 1 : first + 1
}

/** Where the later part begins: at an answer or a user's message, as results of tools belong to their call. */
function cutOf(messages: readonly Message[], head: number, kept: number): number | undefined {
  const wanted = head + Math.max(1, Math.ceil((messages.length - head) * (1 - kept)))
  const cut = messages.findIndex(
    ({ role }, index) => index >= wanted && (role === 'assistant' || role === 'user'),
  )
  return cut === -1 ? undefined : cut
}

export interface TrimOptions {
  /** Which share of the messages after the first request stays (default 0.5). */
  readonly kept?: number
}

/** Leaves the oldest messages of the work out. */
export function trim({ kept = 0.5 }: TrimOptions = {}): Compaction {
  return {
    name: 'trim',
    async compact(messages) {
      const head = headOf(messages)
      const cut = cutOf(messages, head, kept)
      if (cut === undefined) return undefined
      return [...messages.slice(0, head), { role: 'user', content: LEFT_OUT }, ...messages.slice(cut)]
    },
  }
}

const REQUEST = `The conversation is about to be shortened. Sum up the work so far for yourself: what was asked for, what has been done and found out,
the exact names, paths and values that matter, and what is left to do. Write nothing else.`

export interface SummarizeOptions extends TrimOptions {
  /** What the model is asked for. */
  readonly request?: string
}

/** Lets the model sum up the oldest messages of the work; where even that is too long for it, they are left out. */
export function summarize({ kept = 0.25, request = REQUEST }: SummarizeOptions = {}): Compaction {
  return {
    name: 'summarize',
    async compact(messages, { model, context }) {
      const head = headOf(messages)
      const cut = cutOf(messages, head, kept)
      if (cut === undefined) return undefined
      const asked: Message[] = [...messages.slice(0, cut), { role: 'user', content: request }]
      const { message } = await model.generate({ messages: asked, tools: [], signal: context.signal })
      const summary: Message = {
        role: 'user',
        content: `Summary of the work so far:\n${textOf(message.content)}`,
      }
      return [...messages.slice(0, head), summary, ...messages.slice(cut)]
    },
  }
}
