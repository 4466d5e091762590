import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { FakeProvider, type FakeProviderOptions } from '../../../src/sandbox/fake/fake-provider.ts'
import type { RemovalReport, StartedSandbox } from '../../../src/sandbox/provider.ts'
import { SandboxManager } from '../../../src/sandbox/sandbox-manager.ts'
import { deferred } from '../../support/fake-run.ts'
import { fakeConfig, identityOf, leftObject } from '../../support/sandbox-parts.ts'

function setup(options: FakeProviderOptions = {}, maxSandboxes = 1) {
  const provider = new FakeProvider(options)
  const manager = new SandboxManager({ run: 'run', maxSandboxes })
  const start = async (sample: string, more: { signal?: AbortSignal; group?: string } = {}) =>
    manager.start(provider, await fakeConfig('a'), { identity: identityOf(sample), ...more })
  return { provider, manager, start }
}

describe('starting a sandbox', () => {
  it('is registered for removal before the provider is asked', async () => {
    const { provider, manager, start } = setup({ sampleInit: () => new Promise(() => undefined) })
    void start('half done').catch(() => undefined)
    await setImmediate()
    expect(provider.live.size).toBe(1)
    expect(manager.held).toBe(1)
  })

  it('removes what a failed start made, and only then gives the slot back', async () => {
    const removed = deferred()
    const outcomes = [new Error('the image has no shell')]
    const { provider, manager, start } = setup({
      sampleInit: () => {
        const error = outcomes.shift()
        if (error) throw error
      },
      remove: () => removed.promise,
    })
    const failed = start('fails').catch((error) => error)
    const next = start('next')
    await setImmediate()
    expect([provider.calls, manager.held]).toEqual([['sampleInit a fails'], 1])
    removed.resolve()
    expect((await failed).message).toBe('the image has no shell')
    await next
    expect(provider.calls).toEqual(['sampleInit a fails', 'remove a fails', 'sampleInit a next'])
  })

  it('gives the slot back also when what a failed start made would not go, and tries again at the end', async () => {
    const stuck: (RemovalReport | undefined)[] = [{ removed: 0, left: [leftObject('stuck')] }]
    const { provider, manager, start } = setup({
      sampleInit: (_image, { sample }) => {
        if (sample === 'fails') throw new Error('broken')
      },
      remove: () => stuck.shift(),
    })
    await expect(start('fails')).rejects.toThrow('broken')
    expect(manager.left).toEqual([leftObject('stuck')])
    await (await start('next')).remove()
    expect(await manager.shutdown()).toEqual([])
    expect(provider.live.size).toBe(0)
  })

  it('gives the slot back when the listener that is told of it throws', async () => {
    const { provider, manager } = setup()
    const onSlot = () => {
      throw new Error('a listener broke')
    }
    const start = { identity: identityOf('x'), onSlot }
    await expect(manager.start(provider, await fakeConfig('a'), start)).rejects.toThrow('a listener broke')
    await setImmediate()
    expect([manager.held, provider.live.size]).toEqual([0, 0])
  })

  it('removes the sandbox when the caller was aborted while it started', async () => {
    const started = deferred()
    const { provider, manager, start } = setup({ sampleInit: () => started.promise })
    const stop = new AbortController()
    const work = start('x', { signal: stop.signal }).catch((error) => error)
    await setImmediate()
    stop.abort(new Error('cancelled'))
    started.resolve()
    expect((await work).message).toBe('cancelled')
    await setImmediate()
    expect([provider.live.size, manager.held]).toEqual([0, 0])
  })

  it('lets evals take turns at one slot', async () => {
    const { provider, start } = setup()
    const use = async (sample: string) => {
      await using sandbox = await start(sample, { group: sample[0] })
      await sandbox.default.exec(['true'])
    }
    await Promise.all(['x1', 'x2', 'x3', 'y1', 'y2'].map(use))
    const started = provider.calls.filter((call) => call.startsWith('sampleInit'))
    expect(started.map((call) => call.slice('sampleInit a '.length))).toEqual(['x1', 'y1', 'x2', 'y2', 'x3'])
  })
})

describe('removing a sandbox', () => {
  it('gives the slot back when its containers are gone, not before', async () => {
    const removed = deferred()
    const { manager, start, provider } = setup({ remove: () => removed.promise })
    const sandbox = await start('x')
    const next = start('next')
    void sandbox.remove()
    await setImmediate()
    expect(provider.calls).toEqual(['sampleInit a x'])
    removed.resolve()
    await next
    expect(manager.held).toBe(1)
  })

  it('happens once however often it is asked for', async () => {
    const { start, provider } = setup()
    const sandbox = await start('x')
    expect(await sandbox.remove()).toBe(await sandbox.remove())
    await sandbox[Symbol.asyncDispose]()
    expect(provider.calls.filter((call) => call === 'remove a x')).toHaveLength(1)
  })

  it('falls back on labels when the sandbox cannot remove itself', async () => {
    class Forgetful extends FakeProvider {
      override async sampleInit(...parts: Parameters<FakeProvider['sampleInit']>): Promise<StartedSandbox> {
        const remove = async () => {
          throw new Error('lost the connection')
        }
        return { ...(await super.sampleInit(...parts)), remove }
      }
    }
    const provider = new Forgetful()
    const manager = new SandboxManager({ run: 'run', maxSandboxes: 1 })
    const sandbox = await manager.start(provider, await fakeConfig('a'), { identity: identityOf('x') })
    expect(await sandbox.remove()).toEqual({ removed: 1, left: [] })
    expect(provider.live.size).toBe(0)
  })
})

describe('how many sandboxes there may be', () => {
  it('can be changed before the first configuration is seen, and while sandboxes are up', async () => {
    const { manager, start, provider } = setup()
    manager.maxSandboxes = 2
    void Promise.all(['a', 'b', 'c'].map((sample) => start(sample)))
    await setImmediate()
    expect([provider.live.size, manager.maxSandboxes]).toEqual([2, 2])
    manager.maxSandboxes = 3
    await setImmediate()
    expect(provider.live.size).toBe(3)
  })

  it.each([0, 1.5, Number.NaN])('is refused when it is %s, at first and later', (maxSandboxes) => {
    expect(() => new SandboxManager({ run: 'run', maxSandboxes })).toThrow(/at least 1/)
    const { manager } = setup()
    expect(() => {
      manager.maxSandboxes = maxSandboxes
    }).toThrow(/at least 1/)
    expect(manager.maxSandboxes).toBe(1)
  })
})
