import type { Content } from '../sample/content.ts'

/** What a person, a model or a tool said: text, or parts of which some may be media or what a model thought. `textOf` gives the text alone. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

export interface SystemMessage {
  readonly role: 'system'
  readonly content: string
}

export interface UserMessage {
  readonly role: 'user'
  readonly content: Content
}

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: Content
  readonly toolCalls?: readonly ToolCall[]
  readonly model?: string
}

export interface ToolMessage {
  readonly role: 'tool'
  readonly content: Content
  readonly toolCallId: string
  readonly toolName: string
  readonly error?: ToolError
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** Why the model's arguments could not be read; `arguments` is then empty. */
  readonly parseError?: string
  /** By provider: what it wants back with the call, such as a signature. */
  readonly providerData?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export type ToolErrorKind =
  | 'parsing'
  | 'timeout'
  | 'not-found'
  | 'permission'
  | 'output-limit'
  | 'unknown-tool'
  /** A policy did not let it run. */
  | 'not-approved'
  | 'failed'

/** An error of the model's making, told to the model. */
export interface ToolError {
  readonly kind: ToolErrorKind
  readonly message: string
}
