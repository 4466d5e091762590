import type { SandboxEvent } from '../sandbox/recorded-sandbox.ts'
import type { Message, ToolCall, ToolError } from './messages.ts'
import type { GenerateConfig, ModelOutput, ToolChoice, ToolDescription } from './model.ts'

/** One thing that happened in a sample; times are wall-clock milliseconds since the epoch. */
export type TranscriptEvent = (
  | ModelEvent
  | ModelRetryEvent
  | ToolEvent
  | InfoEvent
  | SandboxEvent
  | SpanBeginEvent
  | SpanEndEvent
) & {
  /** Id of the span that it happened in; absent: in none of the agent's own. */
  readonly span?: string
}

/**
 * One answer of a model, or its last error. The messages of a sample's calls form one list, in the order of its events: of each event first
 * `input`, then the answer's message.
 */
export interface ModelEvent {
  readonly type: 'model-output'
  readonly startedMs: number
  readonly durationMs: number
  readonly model: string
  readonly role?: string
  /** Only messages that no earlier call of the sample had; `inputFrom` is their place in the list. */
  readonly input: readonly Message[]
  readonly inputFrom: number
  /** Of what messages of the list the conversation was made: ranges, ends excluded. Absent: of `input` alone. */
  readonly inputRefs?: readonly (readonly [number, number])[]
  /** Absent: the same as in the sample's event before. */
  readonly tools?: readonly ToolDescription[]
  readonly toolChoice?: ToolChoice
  readonly config?: GenerateConfig
  readonly output?: Omit<ModelOutput, 'call'>
  readonly call?: LoggedCall
  readonly error?: string
}

/** A call as the provider's API has it. The parts of its conversation form a list of their own, like messages do. */
export interface LoggedCall {
  /** The body without the conversation. */
  readonly request: Readonly<Record<string, unknown>>
  readonly response?: unknown
  /** Where the conversation is in the body. */
  readonly key?: string
  readonly items?: readonly unknown[]
  readonly itemsFrom?: number
  readonly itemsRefs?: readonly (readonly [number, number])[]
}

/** An attempt that failed, and the pause before the next one. */
export interface ModelRetryEvent {
  readonly type: 'model-retry'
  readonly startedMs: number
  /** Of the failed attempt. */
  readonly durationMs: number
  readonly model: string
  readonly role?: string
  /** Counted from 1. */
  readonly attempt: number
  readonly pauseMs: number
  readonly error: { readonly kind: string; readonly message: string; readonly status?: number }
}

export interface ToolEvent {
  readonly type: 'tool-call'
  readonly startedMs: number
  readonly durationMs: number
  readonly call: ToolCall
  readonly result: string
  readonly error?: ToolError
}

export interface SpanBeginEvent {
  readonly type: 'span-begin'
  readonly startedMs: number
  readonly id: string
  readonly name: string
  /** Id of the span around it. */
  readonly parent?: string
}

export interface SpanEndEvent {
  readonly type: 'span-end'
  readonly startedMs: number
  readonly id: string
}

export interface InfoEvent {
  readonly type: 'info'
  readonly startedMs: number
  readonly source: string
  readonly data: unknown
}

/** Takes the events of one sample, in order, for the log. */
export interface Transcript {
  record(event: TranscriptEvent): void
}
