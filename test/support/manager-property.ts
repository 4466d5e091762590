import fc, { type Scheduler } from 'fast-check'
import { expect } from 'vitest'
import { SandboxInitError } from '../../src/errors.ts'
import { FakeProvider } from '../../src/sandbox/fake/fake-provider.ts'
import { SandboxManager } from '../../src/sandbox/sandbox-manager.ts'
import { drain, turn } from './drain.ts'
import { fakeConfig, identityOf, leftObject, transient } from './sandbox-parts.ts'

type Failure = 'none' | 'starts' | 'removal throws' | 'removal leaves'

export interface User {
  readonly image: 'good' | 'other' | 'broken' | 'flaky'
  readonly failure: Failure
  readonly aborts: boolean
  /** Leaves the removal to the shutdown. */
  readonly forgets: boolean
}

const user = fc.record<User>({
  image: fc.constantFrom('good', 'other', 'broken', 'flaky'),
  failure: fc.constantFrom<Failure>('none', 'none', 'starts', 'removal throws', 'removal leaves'),
  aborts: fc.boolean(),
  forgets: fc.boolean(),
})

const MAX_SANDBOXES = 2
const MAX_INITIALISATIONS = 2

/** A point at which anything else may happen before the one who came there goes on. */
export type Point = (label: string) => Promise<void>

/** A manager with a provider and the users of its sandboxes, all of which come to points. */
export class ManagerModel {
  readonly provider: FakeProvider
  readonly manager: SandboxManager
  initialising = 0
  mostInitialising = 0
  /** Without those whose removal has failed, which hold no slot any more. */
  mostUp = 0
  readonly #users: readonly User[]
  readonly #point: Point
  #settled = 0
  #flaky = 2

  constructor(point: Point, users: readonly User[]) {
    this.#point = point
    this.#users = users
    const failureOf = (sample: string | undefined) => users[Number(sample)]?.failure
    const removalsFailed = new Set<string>()
    this.provider = new FakeProvider({
      taskInit: async (image) => {
        this.mostInitialising = Math.max(this.mostInitialising, ++this.initialising)
        await point(`${image} is built`)
        this.initialising--
        if (image === 'broken') throw new SandboxInitError('no such image')
        if (image === 'flaky' && this.#flaky-- > 0) throw transient('503')
      },
      sampleInit: async (_image, { sample }) => {
        const up = [...this.provider.live.values()].filter(
          ({ identity }) => !removalsFailed.has(identity.sample),
        )
        this.mostUp = Math.max(this.mostUp, up.length)
        await point(`${sample} starts`)
        if (failureOf(sample) === 'starts') throw new Error('cannot start')
      },
      remove: async ({ sample }) => {
        await point(`${sample ?? 'the run'} is removed`)
        if (sample === undefined || removalsFailed.has(sample)) return undefined
        const failure = failureOf(sample)
        if (failure !== 'removal throws' && failure !== 'removal leaves') return undefined
        removalsFailed.add(sample)
        if (failure === 'removal throws') throw new Error('the daemon hung up')
        return { removed: 0, left: [leftObject(sample)] }
      },
    })
    this.manager = new SandboxManager({
      run: 'run',
      maxSandboxes: MAX_SANDBOXES,
      maxInitialisations: MAX_INITIALISATIONS,
      sleep: () => point('a pause ends'),
    })
  }

  /** All users come, each with a signal of its own. */
  come(stops: readonly AbortController[]): void {
    const count = () => void this.#settled++
    for (const [index, stop] of stops.entries()) void this.#use(index, stop.signal).then(count, count)
  }

  async #use(index: number, signal: AbortSignal): Promise<void> {
    const { image, forgets } = this.#users[index]!
    await this.#point(`${index} comes`)
    const { config } = await this.manager.initialise(this.provider, await fakeConfig(image), { signal })
    const start = { identity: identityOf(String(index)), group: String(index % 2), signal }
    const sandbox = await this.manager.start(this.provider, config, start)
    await this.#point(`${index} works`)
    if (!forgets) await sandbox.remove()
  }

  /** After the shutdown: nothing is left, no slot is lost, no limit was exceeded, nothing was done twice. */
  check(): void {
    const { manager, provider } = this
    expect(this.#settled).toBe(this.#users.length)
    expect([...provider.live.keys()]).toEqual([])
    expect([manager.held, manager.left]).toEqual([0, []])
    expect(this.mostUp).toBeLessThanOrEqual(MAX_SANDBOXES)
    expect(this.mostInitialising).toBeLessThanOrEqual(MAX_INITIALISATIONS)
    const initialised = (image: string) =>
      provider.calls.filter((call) => call === `taskInit ${image}`).length
    for (const image of ['good', 'other', 'broken']) expect(initialised(image)).toBeLessThanOrEqual(1)
    expect(initialised('flaky')).toBeLessThanOrEqual(3)
    const starts = provider.calls.filter((call) => call.startsWith('sampleInit'))
    expect(new Set(starts).size).toBe(starts.length)
  }
}

async function after(scheduler: Scheduler, turns: number): Promise<void> {
  for (let left = turns; left > 0; left--) await turn(scheduler, `${left} turns before the shutdown`)
}

/** Whoever starts, fails, is aborted, removes or forgets to, with a shutdown at any moment: nothing is left, nothing is done twice. */
export const managerProperty = fc.asyncProperty(
  fc.scheduler(),
  fc.array(user, { minLength: 1, maxLength: 8 }),
  fc.nat(12),
  async (scheduler, users, turnsBeforeShutdown) => {
    const model = new ManagerModel((label) => turn(scheduler, label), users)
    const { manager, provider } = model
    const stops = users.map(() => new AbortController())
    model.come(stops)
    for (const [index, stop] of stops.entries())
      if (users[index]?.aborts)
        void turn(scheduler, `${index} is aborted`).then(() => stop.abort(new Error('aborted')))
    const down = after(scheduler, turnsBeforeShutdown).then(() => manager.shutdown())
    await drain(scheduler)
    const callsAtEnd = provider.calls.length
    expect(await down).toEqual([])
    model.check()
    expect(provider.calls).toHaveLength(callsAtEnd)
  },
)
