import type { SandboxEvent } from '../sandbox/recorded-sandbox.ts'
import type { Message, ToolCall, ToolError } from './messages.ts'
import type { ModelOutput } from './model.ts'

/** One thing that happened in a sample; times are wall-clock milliseconds since the epoch. */
export type TranscriptEvent = ModelEvent | ToolEvent | InfoEvent | SandboxEvent

export interface ModelEvent {
  readonly type: 'model-output'
  readonly startedMs: number
  readonly durationMs: number
  readonly model: string
  /** Only the messages added since the previous call of this sample; `inputFrom` is how many came before. */
  readonly inputFrom: number
  readonly input: readonly Message[]
  readonly output?: ModelOutput
  readonly error?: string
}

export interface ToolEvent {
  readonly type: 'tool-call'
  readonly startedMs: number
  readonly durationMs: number
  readonly call: ToolCall
  readonly result: string
  readonly error?: ToolError
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
