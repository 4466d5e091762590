import { AsyncLocalStorage } from 'node:async_hooks'
import type Docker from 'dockerode'
import { Limiter, type Slot } from '../../../limit/limiter.ts'
import { whileWaitingForTurn } from '../../../limit/work-clock.ts'

/** The time that one call has, which stands still while the call waits until it may be sent. */
export class CallTurn {
  readonly signal: AbortSignal
  readonly #deadlineMs: number
  readonly #onLate: () => void
  #timer: NodeJS.Timeout | undefined
  #slot: Slot | undefined
  #ended = false

  constructor(options: { signal: AbortSignal; deadlineMs: number; onLate: () => void }) {
    this.signal = options.signal
    this.#deadlineMs = options.deadlineMs
    this.#onLate = options.onLate
    this.#start()
  }

  waits(): void {
    clearTimeout(this.#timer)
  }

  begins(slot: Slot): void {
    this.#slot = slot
    if (this.#ended) slot.release()
    else this.#start()
  }

  /** Also of a request that was given up and cannot be aborted: it holds nobody up. */
  end(): void {
    this.#ended = true
    clearTimeout(this.#timer)
    this.#slot?.release()
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#onLate, this.#deadlineMs)
  }
}

export const callTurns = new AsyncLocalStorage<CallTurn>()

/** Requests that one engine is given at once by default, of each sort: on two processors it answers no sooner when asked for more. */
export function defaultMaxCalls(cpus: number): number {
  return Math.max(16, 8 * cpus)
}

type Dial = (options: { method?: string }, callback: (error: unknown, data: unknown) => void) => void

/**
 * Lets a client send so many requests at once. What looks and what changes wait apart, so that a dead sandbox is
 * noticed also while many are being started; of the latter, creations and removals take turns.
 */
export function limitCalls(client: Docker, limit: number): void {
  const modem = client.modem as unknown as { dial: Dial }
  const dial = modem.dial.bind(modem)
  const [looks, changes] = [new Limiter(limit), new Limiter(limit)]
  modem.dial = (request, callback) => {
    const { method = 'GET' } = request
    const turn = callTurns.getStore()
    turn?.waits()
    const limiter = method === 'GET' || method === 'HEAD' ? looks : changes
    const options = { group: method, ...(turn && { signal: turn.signal }) }
    whileWaitingForTurn(() => limiter.acquire(options)).then(
      (slot) => {
        turn?.begins(slot)
        dial(request, (error, data) => {
          slot.release()
          callback(error, data)
        })
      },
      (error) => callback(error, null),
    )
  }
}
