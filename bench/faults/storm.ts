import type { Fault } from '../../test/support/docker-faults.ts'
import type { FaultChoice } from '../../test/support/docker-proxy.ts'
import { dice, pick } from './dice.ts'

/** Of the calls that may meet a fault. */
const RATE = 0.04
const refused = (status: number) => ({
  kind: 'answer' as const,
  status,
  body: JSON.stringify({ message: `the storm says ${status}` }),
})

const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  'reply delayed': [
    { kind: 'delay-reply', ms: 1500 },
    { kind: 'delay-reply', ms: 6000 },
  ],
  'call delayed': [{ kind: 'delay-call', ms: 2000 }],
  'dropped before it took effect': [{ kind: 'drop-before' }],
  'dropped after it took effect': [{ kind: 'drop-after' }],
  'reset in mid-stream': [
    { kind: 'reset', afterBytes: 0 },
    { kind: 'reset', afterBytes: 40 },
    { kind: 'reset', afterBytes: 3000 },
  ],
  'reply cut short': [{ kind: 'truncate', afterBytes: 20 }],
  'half open': [
    { kind: 'stall', afterBytes: 30 },
    { kind: 'stall', afterBytes: 5000 },
  ],
  'slow bytes': [{ kind: 'slow', bytes: 64, ms: 5 }],
  hang: [{ kind: 'hang' }],
  500: [refused(500)],
  429: [refused(429)],
  409: [refused(409)],
  garbage: [{ kind: 'garbage' }],
  duplicate: [{ kind: 'duplicate' }],
}

/** What belljar asks before it has begun: where that fails, there is no run. */
const SPARED = /^\/(version|info|_ping)/

/** The same calls of the same seed meet the same faults, counted for each sort of call. */
export class Storm {
  readonly counts = new Map<string, number>()
  readonly choose: FaultChoice
  readonly #calls = new Map<string, number>()

  constructor(seed: number) {
    this.choose = ({ method, path }) => {
      if (SPARED.test(path)) return undefined
      const sort = `${method} ${path.replace(/\?.*/, '').replace(/\/[^/]*[0-9a-f]{12,}[^/]*/g, '/ID')}`
      const call = (this.#calls.get(sort) ?? 0) + 1
      this.#calls.set(sort, call)
      const roll = dice(seed, sort, call)
      if (roll() >= RATE) return undefined
      const name = pick(roll, Object.keys(FAULTS))
      this.met(name)
      return pick(roll, FAULTS[name] ?? [])
    }
  }

  met(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }
}
