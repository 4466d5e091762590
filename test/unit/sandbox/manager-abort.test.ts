import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { FakeProvider } from '../../../src/sandbox/fake/fake-provider.ts'
import { SandboxManager } from '../../../src/sandbox/sandbox-manager.ts'
import { deferred } from '../../support/fake-run.ts'
import { fakeConfig, identityOf } from '../../support/sandbox-parts.ts'

/** The awaits of the manager on its provider, in the order in which the work below comes to them. */
const AWAITS = [
  'taskInit a',
  'sampleInit x',
  'remove x',
  'sampleInit y',
  'remove y',
  'remove the run',
] as const

/** A provider that never answers one of its calls, and does not care for signals. */
function hangingProvider(at: (typeof AWAITS)[number]) {
  const reached = deferred()
  const never = new Promise<never>(() => undefined)
  const pass = (name: string) => {
    if (name !== at) return undefined
    reached.resolve()
    return never
  }
  const provider = new FakeProvider({
    taskInit: (image) => pass(`taskInit ${image}`),
    sampleInit: (_image, { sample }) => pass(`sampleInit ${sample}`),
    remove: ({ sample }) => pass(sample === undefined ? 'remove the run' : `remove ${sample}`),
  })
  let abandoned = 0
  const abandon = () => void abandoned++
  return { provider: Object.assign(provider, { abandon }), reached, abandoned: () => abandoned }
}

async function work(manager: SandboxManager, provider: FakeProvider, signal: AbortSignal): Promise<void> {
  const { config } = await manager.initialise(provider, await fakeConfig('a'), { signal })
  for (const sample of ['x', 'y']) {
    const sandbox = await manager.start(provider, config, { identity: identityOf(sample), signal })
    await sandbox.remove()
  }
}

describe('an abort while the provider hangs', () => {
  it.each(AWAITS)('at %s ends all waits, names what is left and hands it over', async (at) => {
    const { provider, reached, abandoned } = hangingProvider(at)
    const manager = new SandboxManager({ run: 'run', sleep: async () => undefined })
    const stop = new AbortController()
    const { signal } = stop
    const done = work(manager, provider, signal).catch((error) => error)
    // What a sample waits for that removes its own sandbox is bounded by the provider; a run that ends does not wait for it.
    const isRemoval = at.startsWith('remove')
    if (at !== 'remove the run') await reached.promise
    const down = at === 'remove the run' ? done.then(() => manager.shutdown(signal)) : undefined
    if (at === 'remove the run') await reached.promise
    stop.abort(new Error('stopped by the test'))
    if (!isRemoval) expect((await done).message).toBe('stopped by the test')
    const left = await (down ?? manager.shutdown(signal))
    expect(left.length).toBeGreaterThan(0)
    const sample = at.startsWith('taskInit') || down ? undefined : at.at(-1)
    expect(left[0]?.name).toContain(sample === undefined ? 'belljar.run=run' : `sample ${sample} (epoch 1)`)
    expect(left[0]?.command).toBe('belljar sandbox cleanup run')
    expect(abandoned()).toBe(1)
    expect(await manager.shutdown(signal)).toEqual(left)
  })

  it('a start that its caller gave up in the moment that it came up is removed', async () => {
    const up = deferred()
    const provider = new FakeProvider({ sampleInit: () => up.promise })
    const manager = new SandboxManager({ run: 'run', maxSandboxes: 1 })
    const stop = new AbortController()
    const gone: string[] = []
    const start = manager.start(provider, await fakeConfig('a'), {
      identity: identityOf('x'),
      signal: stop.signal,
      onGone: () => void gone.push('x'),
    })
    await setImmediate()
    stop.abort(new Error('no longer wanted'))
    await expect(start).rejects.toThrow('no longer wanted')
    expect([gone, manager.held]).toEqual([[], 1])
    up.resolve()
    await setImmediate()
    await setImmediate()
    expect([gone, manager.held, provider.live.size]).toEqual([['x'], 0, 0])
  })
})
