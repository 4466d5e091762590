import { availableParallelism, loadavg } from 'node:os'
import { SandboxUnavailableError } from '../../../errors.ts'
import { EngineDeadlineError, EngineError, mayPass } from '../engine/engine-error.ts'

export interface StartFailureData {
  readonly service?: string
  readonly mayPass?: boolean
  /** Nothing went wrong but that it took too long (default: by the cause). */
  readonly late?: boolean
  readonly postMortem?: string
  readonly cause?: unknown
}

/** A sandbox that did not come up. `mayPass`: another try with everything made anew may succeed. */
export class StartFailure extends SandboxUnavailableError {
  readonly mayPass: boolean

  constructor(message: string, data: StartFailureData) {
    const { late = data.cause instanceof EngineDeadlineError } = data
    super(late ? `${message}${pressure()}` : message, { ...data, reason: late ? 'start-timeout' : 'start' })
    this.mayPass = data.mayPass ?? (data.cause instanceof EngineError && mayPass(data.cause))
  }
}

/** What this machine says of itself. The engine is on it, as a rule. */
function pressure(): string {
  const load = loadavg()[0] ?? 0
  const processors = availableParallelism()
  if (load <= processors) return ''
  return `\n(this machine is busy: a load of ${load.toFixed(1)} on ${processors} processors; fewer sandboxes at once may start in time)`
}
