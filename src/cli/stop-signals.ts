import { EXIT_CODES, type StopSignal } from './exit-code.ts'

const SIGNALS: readonly StopSignal[] = ['SIGHUP', 'SIGINT', 'SIGTERM']

/** A run that was told to stop ends within ten seconds, whatever hangs. */
const PATIENCE_MS = 9500

export interface StopSignalsOptions {
  readonly onFirst: (signal: StopSignal) => void
  /** Just before the process ends at once: for a second signal, or because the run did not end by itself. */
  readonly onLeave: () => void
  readonly patienceMs?: number
  readonly exit?: (code: number) => void
}

/** Turns the first signal into an abort, so that the run ends itself; a second one, or too long a time, ends the process at once. */
export class StopSignals implements Disposable {
  readonly #controller = new AbortController()
  readonly #options: StopSignalsOptions
  #first: StopSignal | undefined
  #timer: NodeJS.Timeout | undefined
  #stop = (signal: NodeJS.Signals) => this.#received(signal as StopSignal)

  constructor(options: StopSignalsOptions) {
    this.#options = options
    for (const signal of SIGNALS) process.on(signal, this.#stop)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get received(): StopSignal | undefined {
    return this.#first
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    for (const signal of SIGNALS) process.off(signal, this.#stop)
  }

  #received(signal: StopSignal): void {
    if (this.#first !== undefined) this.#leave(this.#first)
    else this.#begin(signal)
  }

  #begin(signal: StopSignal): void {
    this.#first = signal
    this.#timer = setTimeout(() => this.#leave(signal), this.#options.patienceMs ?? PATIENCE_MS)
    this.#options.onFirst(signal)
    this.#controller.abort(new Error(`stopped by ${signal}`))
  }

  #leave(signal: StopSignal): void {
    const { onLeave, exit = process.exit } = this.#options
    onLeave()
    exit(EXIT_CODES[signal])
  }
}
