import { BelljarError } from '../../errors.ts'

/** How an operator ends a sample: scored on what is there, as an error, or cancelled. */
export type CancelAction = 'score' | 'error' | 'cancel'

/** Whether a request changed anything and, if not, why. */
export interface ControlReply {
  readonly changed: boolean
  readonly reason?: string
}

/** An operator ended a sample or a task. */
export class OperatorError extends BelljarError {
  constructor(message: string) {
    super('operator', message)
  }
}

export const CHANGED: ControlReply = { changed: true }
export const unchanged = (reason: string): ControlReply => ({ changed: false, reason })

export type RunState = 'waiting' | 'starting' | 'working' | 'scoring' | 'ended'

/** What an operator asked of one run. Only escalation is possible: what was asked first stands until a cancel. */
export class RunControl {
  state: RunState = 'waiting'
  /** What it is doing, and since when (milliseconds since the epoch); before its first phase: waiting for its turn. */
  doing: { readonly phase: string; readonly sinceMs: number } = { phase: 'queue', sinceMs: Date.now() }
  /** Not started, or held before its next model call, until an operator lets it go on. */
  #hold: { readonly over: Promise<void>; readonly end: () => void } | undefined
  #action: CancelAction | undefined
  #stop: AbortController | undefined
  #agentStop: AbortController | undefined

  get action(): CancelAction | undefined {
    return this.#action
  }

  does(phase: string): void {
    this.doing = { phase, sinceMs: Date.now() }
  }

  /** Aborted when the run ends as an error or is cancelled. */
  get signal(): AbortSignal {
    this.#stop ??= new AbortController()
    return this.#stop.signal
  }

  /** Aborted when the agent ends so that it can be scored. */
  get agentSignal(): AbortSignal {
    this.#agentStop ??= new AbortController()
    return this.#agentStop.signal
  }

  get isHeld(): boolean {
    return this.#hold !== undefined
  }

  /** Resolves when the run is not held. */
  async letGo(): Promise<void> {
    while (this.#hold) await this.#hold.over
  }

  request(action: CancelAction): ControlReply {
    if (this.state === 'ended') return unchanged('it has ended')
    if (this.#action === 'cancel' || (this.#action && action !== 'cancel'))
      return unchanged(`'${this.#action}' was asked for already`)
    if (action === 'score' && this.state === 'scoring') return unchanged('it is being scored already')
    this.#action = action
    this.resume()
    const reason = new OperatorError(`an operator ended the sample (${action})`)
    if (action === 'score') {
      this.#agentStop ??= new AbortController()
      this.#agentStop.abort(reason)
    } else {
      this.#stop ??= new AbortController()
      this.#stop.abort(reason)
    }
    return CHANGED
  }

  pause(): ControlReply {
    if (this.state === 'ended') return unchanged('it has ended')
    if (this.#action) return unchanged(`'${this.#action}' was asked for already`)
    if (this.#hold) return unchanged('it is paused already')
    let end = () => undefined as void
    const over = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#hold = { over, end }
    return CHANGED
  }

  resume(): ControlReply {
    if (!this.#hold) return unchanged('it is not paused')
    this.#hold.end()
    this.#hold = undefined
    return CHANGED
  }
}
