import { BelljarError, errorMessage } from '../../../errors.ts'

/** A call that the Engine refused (`status`), or that did not reach it or got no answer (no `status`). */
export class EngineError extends BelljarError {
  readonly status: number | undefined

  constructor(message: string, data: { status?: number; cause?: unknown }) {
    super('engine', message, data)
    this.status = data.status
  }
}

/** The Engine gave no answer in the time that the call was given. */
export class EngineDeadlineError extends EngineError {
  constructor(what: string, deadlineMs: number) {
    super(`${what}: the Docker engine gave no answer in ${deadlineMs / 1000} s`, {})
  }
}

/** The Engine's own words for what dockerode threw. */
function engineMessage(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'json' in error) {
    const { json } = error
    if (typeof json === 'object' && json !== null && 'message' in json) return String(json.message).trim()
  }
  // dockerode puts status and reason before it, and has no `json` where the body was to be a stream.
  return errorMessage(error)
    .replace(/^\(HTTP code \d+\) .*? - /, '')
    .trim()
}

export function toEngineError(what: string, error: unknown): EngineError {
  if (error instanceof EngineError) return error
  const status =
    typeof error === 'object' && error !== null && 'statusCode' in error
      ? Number(error.statusCode)
      : undefined
  return new EngineError(`${what}: ${engineMessage(error)}`, {
    ...(status === undefined ? {} : { status }),
    cause: error,
  })
}

export function statusOf(error: unknown): number | undefined {
  return error instanceof EngineError ? error.status : undefined
}

/** No answer, or one that blames the engine or the moment: also what it says of ports and names that are taken just now. */
export function mayPass({ status }: EngineError): boolean {
  return status === undefined || status === 409 || status === 429 || status >= 500
}

/** The call did not reach the Engine, or its answer did not reach us. */
export function isConnectionError(error: unknown): boolean {
  return error instanceof EngineError && error.status === undefined
}
