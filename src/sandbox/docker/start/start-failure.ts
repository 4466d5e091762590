import { SandboxUnavailableError } from '../../../errors.ts'
import { EngineError } from '../engine/engine-error.ts'

/** A sandbox that did not come up. `mayPass`: another try with everything made anew may succeed. */
export class StartFailure extends SandboxUnavailableError {
  readonly mayPass: boolean

  constructor(
    message: string,
    data: { service?: string; mayPass?: boolean; postMortem?: string; cause?: unknown },
  ) {
    super(message, { ...data, reason: 'start' })
    this.mayPass = data.mayPass ?? engineMayRecover(data.cause)
  }
}

/** No answer, or one that blames the engine: also what it says of ports and names that are taken just now. */
function engineMayRecover(cause: unknown): boolean {
  if (!(cause instanceof EngineError)) return false
  return cause.status === undefined || cause.status === 409 || cause.status >= 500
}
