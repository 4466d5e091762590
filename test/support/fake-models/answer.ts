/** What a fake provider is to say, whatever its protocol. */
export interface FakeAnswer {
  readonly text?: string
  readonly reasoning?: string
  readonly toolCalls?: readonly FakeToolCall[]
  /** Cut off at the limit of tokens. */
  readonly isCut?: boolean
  readonly usage?: FakeUsage
}

export interface FakeToolCall {
  readonly name: string
  /** A text is sent as it is, valid JSON or not. */
  readonly arguments: Readonly<Record<string, unknown>> | string
}

/** Input with, output with reasoning; providers count them apart as they do. */
export interface FakeUsage {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly reasoning?: number
}

export const DEFAULT_USAGE: FakeUsage = { input: 10, output: 5 }

export function argumentsText({ arguments: args }: FakeToolCall): string {
  return typeof args === 'string' ? args : JSON.stringify(args)
}

/** One protocol: how an answer is told at once, and as events of a stream. */
export interface FakeProtocol {
  body(answer: FakeAnswer, request: FakeRequestBody): object
  /** Server-sent events, as `[name, data]`; a name of '' is left out. */
  events(answer: FakeAnswer, request: FakeRequestBody): readonly (readonly [string, object | string])[]
  error(status: number, message: string): object
}

export type FakeRequestBody = Readonly<Record<string, unknown>> & {
  readonly model?: string
  readonly stream?: boolean
}
