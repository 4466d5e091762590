interface Flight<T> {
  readonly result: Promise<T>
  readonly controller: AbortController
  waiting: number
}

/** Work that many may ask for at once and that is done once. It is aborted when the last of those who wait has gone. */
export class SharedFlights<T> {
  readonly #flights = new Map<string, Flight<T>>()

  async run(
    key: string,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted()
    const flight = this.#flights.get(key) ?? this.#start(key, work)
    flight.waiting += 1
    try {
      return await raceWithAbort(flight.result, signal)
    } finally {
      flight.waiting -= 1
      if (flight.waiting === 0) {
        if (this.#flights.get(key) === flight) this.#flights.delete(key)
        flight.controller.abort()
      }
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController()
    const result = work(controller.signal)
    result.catch(() => undefined)
    const flight: Flight<T> = { result, controller, waiting: 0 }
    this.#flights.set(key, flight)
    return flight
  }
}

async function raceWithAbort<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return result
  let abort: () => void = () => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
  })
  try {
    return await Promise.race([result, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
