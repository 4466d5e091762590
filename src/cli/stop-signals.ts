import { EXIT_CODES, type StopSignal } from './exit-code.ts'

const SIGNALS: readonly StopSignal[] = ['SIGHUP', 'SIGINT', 'SIGTERM']

/** Turns the first signal into an abort, so that the run ends itself; a second one ends the process at once. */
export class StopSignals implements Disposable {
  readonly #controller = new AbortController()
  readonly #onFirst: (signal: StopSignal) => void
  readonly #onSecond: () => void
  #first: StopSignal | undefined
  #stop = (signal: NodeJS.Signals) => this.#received(signal as StopSignal)

  constructor(options: { onFirst: (signal: StopSignal) => void; onSecond: () => void }) {
    this.#onFirst = options.onFirst
    this.#onSecond = options.onSecond
    for (const signal of SIGNALS) process.on(signal, this.#stop)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get received(): StopSignal | undefined {
    return this.#first
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.#stop)
  }

  #received(signal: StopSignal): void {
    if (this.#first !== undefined) {
      this.#onSecond()
      process.exit(EXIT_CODES[this.#first])
    }
    this.#first = signal
    this.#onFirst(signal)
    this.#controller.abort(new Error(`stopped by ${signal}`))
  }
}
