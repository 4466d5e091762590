import type { ModelOutput, ModelRequest } from '../../model.ts'

/** One call as a program in the sandbox made it. */
export interface ApiCall {
  /** As the program named it. */
  readonly model: string
  readonly request: Omit<ModelRequest, 'signal'>
  /** Whether the answer is to come as events. */
  readonly stream: boolean
  /** What the program asked for that cannot be had here, such as tools that a provider runs itself. */
  readonly ignored: readonly string[]
}

export interface ApiEvent {
  readonly event?: string
  /** A text is sent as it is. */
  readonly data: unknown
}

/** One protocol: requests in, answers out. */
export interface Api {
  /** @throws ApiError for a body that is none of this protocol's */
  parse(body: unknown, target: ApiTarget): ApiCall
  render(output: ModelOutput, call: ApiCall): unknown
  events(output: ModelOutput, call: ApiCall): Iterable<ApiEvent>
  error(error: ApiError): unknown
}

/** What the path of a request says beside its protocol. */
export interface ApiTarget {
  readonly model?: string
  readonly stream?: boolean
}

/** What a program is told instead of an answer. */
export class ApiError extends Error {
  readonly status: number

  constructor(status: number, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.status = status
  }
}
