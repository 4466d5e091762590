import type { Gate, GateSandbox } from './config-gate.ts'

/** Opens when two configurations are ready: that of the agent's sandbox and that of its verifier's. */
class JoinedGate implements Gate {
  readonly settled: Promise<void>
  readonly #own: Gate
  readonly #verifier: Gate
  #isSettled = false

  constructor(own: Gate, verifier: Gate) {
    this.#own = own
    this.#verifier = verifier
    this.settled = Promise.all([own.settled, verifier.settled]).then(() => {
      this.#isSettled = true
    })
  }

  get state(): Gate['state'] {
    const states = [this.#own.state, this.#verifier.state]
    if (states.every((state) => state === 'ready')) return 'ready'
    return this.#isSettled ? 'failed' : 'pending'
  }

  get sandbox(): GateSandbox | undefined {
    return this.#own.sandbox
  }

  get verifier(): GateSandbox | undefined {
    return this.#verifier.sandbox
  }

  /** Of what is not ready yet. */
  get description(): string | undefined {
    return (this.#own.state === 'pending' ? this.#own : this.#verifier).description
  }

  get error(): unknown {
    return this.#own.error ?? this.#verifier.error
  }
}

/** One joined gate for each two. */
export class JoinedGates {
  readonly #joined = new Map<Gate, Map<Gate, Gate>>()

  of(own: Gate, verifier: Gate): Gate {
    const ofOwn = this.#joined.get(own) ?? new Map<Gate, Gate>()
    this.#joined.set(own, ofOwn)
    const joined = ofOwn.get(verifier) ?? new JoinedGate(own, verifier)
    ofOwn.set(verifier, joined)
    return joined
  }
}
