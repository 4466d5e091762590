import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { FakeProvider, type FakeProviderOptions } from '../../../src/sandbox/fake/fake-provider.ts'
import { SandboxManager } from '../../../src/sandbox/sandbox-manager.ts'
import { deferred } from '../../support/fake-run.ts'
import { fakeConfig, identityOf, leftObject } from '../../support/sandbox-parts.ts'

function setup(options: FakeProviderOptions = {}, maxSandboxes = 2) {
  const provider = new FakeProvider(options)
  const manager = new SandboxManager({ run: 'run', maxSandboxes })
  const start = async (sample: string) =>
    manager.start(provider, await fakeConfig('a'), { identity: identityOf(sample) })
  return { provider, manager, start }
}

const untilAborted = (signal: AbortSignal | undefined) =>
  new Promise<void>((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

describe('shutdown', () => {
  it('removes every sandbox that nobody has removed, and gives its slot back', async () => {
    const { provider, manager, start } = setup()
    await Promise.all(['x', 'y'].map((sample) => start(sample)))
    expect(await manager.shutdown()).toEqual([])
    await setImmediate()
    expect([provider.live.size, manager.held]).toEqual([0, 0])
  })

  it('ends a start that is under way and leaves nothing of it', async () => {
    const { provider, manager, start } = setup({
      sampleInit: (_image, _identity, { signal }) => untilAborted(signal),
    })
    const work = start('x').catch((error) => error)
    await setImmediate()
    await manager.shutdown()
    expect((await work).message).toBe('the run has ended')
    expect(provider.live.size).toBe(0)
  })

  it('waits for a start that cannot be ended, and removes what it made', async () => {
    const started = deferred()
    const { provider, manager, start } = setup({ sampleInit: () => started.promise })
    const work = start('x').catch((error) => error)
    await setImmediate()
    const down = manager.shutdown()
    await setImmediate()
    started.resolve()
    expect(await down).toEqual([])
    expect((await work).message).toBe('the run has ended')
    await setImmediate()
    expect([provider.live.size, manager.held]).toEqual([0, 0])
  })

  it('refuses those who wait for a slot, and whoever asks afterwards', async () => {
    const { provider, manager, start } = setup({}, 1)
    await start('up')
    const waiting = start('waiting').catch((error) => error)
    await setImmediate()
    await manager.shutdown()
    expect((await waiting).message).toBe('the run has ended')
    await expect(start('late')).rejects.toThrow('the run has ended')
    await expect(manager.initialise(provider, await fakeConfig('b'))).rejects.toThrow('the run has ended')
    expect(provider.calls.filter((call) => call.includes('Init'))).toEqual(['sampleInit a up'])
  })

  it('ends initialisations that are under way', async () => {
    const { provider, manager } = setup({ taskInit: (_image, { signal }) => untilAborted(signal) })
    const work = manager.initialise(provider, await fakeConfig('a')).catch((error) => error)
    await setImmediate()
    await manager.shutdown()
    expect((await work).message).toBe('the run has ended')
    expect(provider.calls).toEqual(['taskInit a', 'taskCleanup a'])
  })

  it('attempts all however others fail: a removal that throws, one that leaves, one that is fine', async () => {
    const { provider, manager, start } = setup(
      {
        remove: ({ sample }) => {
          if (sample === 'throws') throw new Error('the daemon hung up')
          return sample === 'leaves' ? { removed: 0, left: [leftObject('stuck')] } : undefined
        },
      },
      3,
    )
    for (const sample of ['throws', 'leaves', 'fine']) await start(sample)
    expect(await manager.shutdown()).toEqual([])
    expect(provider.calls).toContain('remove a fine')
    expect(provider.live.size).toBe(0)
  })

  it('names what would not go, at the last look at everything of the run', async () => {
    const { manager, start } = setup({ remove: () => ({ removed: 0, left: [leftObject('stuck')] }) })
    const sandbox = await start('x')
    expect((await sandbox.remove()).left).toEqual([leftObject('stuck')])
    expect(await manager.shutdown()).toEqual([leftObject('stuck')])
    expect(manager.left).toEqual([leftObject('stuck')])
  })

  it('asks every provider that was used, once, however often it is called', async () => {
    const asked: unknown[] = []
    const { manager, start } = setup({ remove: (selector) => void asked.push(selector) })
    await (await start('x')).remove()
    const [one, other] = [manager.shutdown(), manager.shutdown()]
    expect(await one).toBe(await other)
    expect(await manager.shutdown()).toEqual([])
    expect(asked).toEqual([identityOf('x'), { run: 'run' }])
  })

  it('removes nothing when nothing was used', async () => {
    expect(await new SandboxManager({ run: 'run' }).shutdown()).toEqual([])
  })
})
