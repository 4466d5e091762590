import { describe, expect, it } from 'vitest'
import {
  type EngineCalls,
  type ReapedObject,
  reap,
} from '../../../../../src/sandbox/docker/ownership/reaper/reap.ts'
import { RunState } from '../../../../../src/sandbox/docker/ownership/reaper/run-state.ts'

const container = (name: string, project?: string): ReapedObject => ({
  kind: 'container',
  id: name,
  name,
  project,
})

/** An engine in memory on a clock of its own: things appear when it is their time. */
class FakeEngine implements EngineCalls {
  readonly log: string[] = []
  readonly #objects: (ReapedObject & { atMs: number })[] = []
  nowMs = 0
  unreachableUntilMs = 0
  refusals = 0

  add(object: ReapedObject, atMs = 0): this {
    this.#objects.push({ ...object, atMs })
    return this
  }

  get clock() {
    return {
      now: () => this.nowMs,
      sleep: async (ms: number) => {
        this.nowMs += ms
      },
    }
  }

  get names(): string[] {
    return this.#objects.map(({ name }) => name)
  }

  async list(): Promise<ReapedObject[]> {
    if (this.nowMs < this.unreachableUntilMs) throw new Error('no engine')
    return this.#objects.filter(({ atMs }) => atMs <= this.nowMs)
  }

  async remove({ name, kind }: ReapedObject): Promise<void> {
    if (this.refusals-- > 0) throw new Error('busy')
    this.log.push(`${kind} ${name}`)
    this.#objects.splice(
      this.#objects.findIndex((object) => object.name === name),
      1,
    )
  }
}

const nothingKept = { kept: new Set<string>(), inFlight: [] }

describe('the reaper', () => {
  it('removes containers before networks and volumes', async () => {
    const engine = new FakeEngine()
      .add({ kind: 'volume', id: 'v', name: 'v', project: 'p' })
      .add({ kind: 'network', id: 'n', name: 'n', project: 'p' })
      .add(container('c', 'p'))
    expect(await reap(engine, nothingKept, engine.clock)).toBe(true)
    expect(engine.log).toEqual(['container c', 'network n', 'volume v'])
  })

  it('waits for a create whose answer never came, and removes what it makes', async () => {
    const engine = new FakeEngine().add(container('late'), 20_000)
    expect(await reap(engine, { ...nothingKept, inFlight: ['late'] }, engine.clock)).toBe(true)
    expect(engine.log).toEqual(['container late'])
  })

  it('does not wait for ever for a create that took no effect', async () => {
    const engine = new FakeEngine()
    expect(await reap(engine, { ...nothingKept, inFlight: ['never'] }, engine.clock)).toBe(true)
    expect(engine.nowMs).toBeLessThan(60_000)
  })

  it('ends soon when nothing is in flight', async () => {
    const engine = new FakeEngine()
    await reap(engine, nothingKept, engine.clock)
    expect(engine.nowMs).toBeLessThan(3000)
  })

  it('goes on while the engine is away or busy', async () => {
    const engine = new FakeEngine().add(container('c'))
    engine.unreachableUntilMs = 120_000
    engine.refusals = 3
    expect(await reap(engine, nothingKept, engine.clock)).toBe(true)
    expect(engine.names).toEqual([])
  })

  it('gives up at last on an engine that stays away', async () => {
    const engine = new FakeEngine()
    engine.unreachableUntilMs = Number.POSITIVE_INFINITY
    expect(await reap(engine, nothingKept, engine.clock)).toBe(false)
  })

  it('leaves kept sandboxes, and the volumes and networks of the run that they may use', async () => {
    const engine = new FakeEngine()
      .add(container('kept', 'p'))
      .add(container('other', 'q'))
      .add({ kind: 'volume', id: 'guest', name: 'guest', project: undefined })
      .add({ kind: 'network', id: 'internet', name: 'internet', project: undefined })
      .add(container('anchor'))
    await reap(engine, { kept: new Set(['p']), inFlight: [] }, engine.clock)
    expect(engine.names).toEqual(['kept', 'guest', 'internet'])
  })
})

describe('what a run tells its reaper', () => {
  const creating = (number: number, engine: string) =>
    ({ type: 'creating', engine, number, kind: 'container', name: `c${number}` }) as const

  it('adds up to creates in flight, by engine', () => {
    const state = new RunState()
    for (const message of [creating(1, 'a'), creating(2, 'a'), creating(3, 'b')]) state.take(message)
    state.take({ type: 'created', number: 1 })
    expect(state.inFlight('a')).toEqual(['c2'])
    expect(state.inFlight('b')).toEqual(['c3'])
  })

  it('adds up to the engines that it has not done with', () => {
    const state = new RunState()
    for (const id of ['a', 'b'])
      state.take({ type: 'engine', engine: { id, address: { socketPath: '/s' }, apiVersion: '1.44' } })
    state.take({ type: 'engine-done', id: 'a' })
    expect([...state.engines.keys()]).toEqual(['b'])
    expect(state.left).toBe(false)
    state.take({ type: 'leave' })
    expect(state.left).toBe(true)
  })
})
