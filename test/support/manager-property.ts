import fc, { type Scheduler } from 'fast-check'
import { expect } from 'vitest'
import { SandboxInitError } from '../../src/errors.ts'
import { FakeProvider } from '../../src/sandbox/fake/fake-provider.ts'
import { SandboxManager } from '../../src/sandbox/sandbox-manager.ts'
import { drain, turn } from './drain.ts'
import { fakeConfig, identityOf, leftObject, transient } from './sandbox-parts.ts'

type Failure = 'none' | 'starts' | 'removal throws' | 'removal leaves'

interface User {
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

class Model {
  readonly provider: FakeProvider
  readonly manager: SandboxManager
  initialising = 0
  mostInitialising = 0
  /** Without those whose removal has failed, which hold no slot any more. */
  mostUp = 0
  #flaky = 2

  constructor(scheduler: Scheduler, users: readonly User[]) {
    const failureOf = (sample: string | undefined) => users[Number(sample)]?.failure
    const removalsFailed = new Set<string>()
    this.provider = new FakeProvider({
      taskInit: async (image) => {
        this.mostInitialising = Math.max(this.mostInitialising, ++this.initialising)
        await turn(scheduler, `${image} is built`)
        this.initialising--
        if (image === 'broken') throw new SandboxInitError('no such image')
        if (image === 'flaky' && this.#flaky-- > 0) throw transient('503')
      },
      sampleInit: async (_image, { sample }) => {
        const up = [...this.provider.live.values()].filter(
          ({ identity }) => !removalsFailed.has(identity.sample),
        )
        this.mostUp = Math.max(this.mostUp, up.length)
        await turn(scheduler, `${sample} starts`)
        if (failureOf(sample) === 'starts') throw new Error('cannot start')
      },
      remove: async ({ sample }) => {
        await turn(scheduler, `${sample ?? 'the run'} is removed`)
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
      sleep: () => turn(scheduler, 'a pause ends'),
    })
  }

  async use(scheduler: Scheduler, index: number, { image, aborts, forgets }: User): Promise<void> {
    const stop = new AbortController()
    const { signal } = stop
    await turn(scheduler, `${index} comes`)
    if (aborts) void turn(scheduler, `${index} is aborted`).then(() => stop.abort(new Error('aborted')))
    const { config } = await this.manager.initialise(this.provider, await fakeConfig(image), { signal })
    const start = { identity: identityOf(String(index)), group: String(index % 2), signal }
    const sandbox = await this.manager.start(this.provider, config, start)
    await turn(scheduler, `${index} works`)
    if (!forgets) await sandbox.remove()
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
    const model = new Model(scheduler, users)
    const { manager, provider } = model
    let settled = 0
    const count = () => void settled++
    for (const [index, one] of users.entries()) void model.use(scheduler, index, one).then(count, count)
    const down = after(scheduler, turnsBeforeShutdown).then(() => manager.shutdown())
    await drain(scheduler)
    const callsAtEnd = provider.calls.length
    expect(await down).toEqual([])
    expect(settled).toBe(users.length)
    expect([...provider.live.keys()]).toEqual([])
    expect([manager.held, manager.left]).toEqual([0, []])
    expect(model.mostUp).toBeLessThanOrEqual(MAX_SANDBOXES)
    expect(model.mostInitialising).toBeLessThanOrEqual(MAX_INITIALISATIONS)
    const initialised = (image: string) =>
      provider.calls.filter((call) => call === `taskInit ${image}`).length
    for (const image of ['good', 'other', 'broken']) expect(initialised(image)).toBeLessThanOrEqual(1)
    expect(initialised('flaky')).toBeLessThanOrEqual(3)
    const starts = provider.calls.filter((call) => call.startsWith('sampleInit'))
    expect(new Set(starts).size).toBe(starts.length)
    expect(provider.calls).toHaveLength(callsAtEnd)
  },
)
