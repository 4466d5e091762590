import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { SandboxInitError } from '../../../src/errors.ts'
import { ConfigInitialiser } from '../../../src/sandbox/config-initialiser.ts'
import { FakeProvider, type FakeProviderOptions } from '../../../src/sandbox/fake/fake-provider.ts'
import type { SandboxReport } from '../../../src/sandbox/provider.ts'
import { deferred } from '../../support/fake-run.ts'
import { fakeConfig, transient } from '../../support/sandbox-parts.ts'

/** An initialiser whose pauses take no time and are kept. */
function initialiser(taskInit?: FakeProviderOptions['taskInit'], maxAtOnce = 4) {
  const provider = new FakeProvider({ taskInit })
  const pauses: number[] = []
  const initialiser = new ConfigInitialiser(maxAtOnce, async (ms) => void pauses.push(ms))
  const initialise = async (image: string, context = {}) =>
    initialiser.initialise(provider, await fakeConfig(image), context)
  return { provider, pauses, initialiser, initialise }
}

describe('initialising configurations', () => {
  it('does the work once for all who ask, while it goes on and afterwards', async () => {
    const built = deferred()
    const { provider, initialise } = initialiser(() => built.promise)
    const first = [initialise('a'), initialise('a')]
    await setImmediate()
    built.resolve()
    const [one, other] = await Promise.all(first)
    expect(await initialise('a')).toBe(one)
    expect(other).toBe(one)
    expect(one?.facts.images).toEqual({ default: 'sha256:a' })
    expect(provider.calls).toEqual(['taskInit a'])
  })

  it('takes different keys in parallel, but no more than the bound', async () => {
    const built = { a: deferred(), b: deferred(), c: deferred() }
    const { provider, initialise } = initialiser((image) => built[image as 'a'].promise, 2)
    const all = ['a', 'b', 'c'].map((image) => initialise(image))
    await setImmediate()
    expect(provider.calls).toEqual(['taskInit a', 'taskInit b'])
    built.b.resolve()
    await all[1]
    await setImmediate()
    expect(provider.calls).toEqual(['taskInit a', 'taskInit b', 'taskInit c'])
    built.a.resolve()
    built.c.resolve()
    await Promise.all(all)
  })

  it('keeps a failure, with its first error, at no further cost', async () => {
    let count = 0
    const { provider, initialise, pauses } = initialiser(() => {
      throw new SandboxInitError(`no such image (${++count})`)
    })
    const errors = await Promise.all([1, 2].map(() => initialise('a').catch((error) => error)))
    errors.push(await initialise('a').catch((error) => error))
    expect(new Set(errors).size).toBe(1)
    expect(errors[0].message).toBe('no such image (1)')
    expect(provider.calls).toEqual(['taskInit a'])
    expect(pauses).toEqual([])
  })

  it('tries again after growing pauses what may pass, and says so', async () => {
    const outcomes = [transient('429'), transient('503'), transient('reset')]
    const reports: SandboxReport[] = []
    const { initialise, pauses } = initialiser(() => {
      const error = outcomes.shift()
      if (error) throw error
    })
    await initialise('a', { report: (report: SandboxReport) => reports.push(report) })
    expect(pauses).toEqual([500, 1000, 2000])
    expect(reports.map(({ message }) => message)).toEqual([
      'fake a: 429; trying again in 500 ms',
      'fake a: 503; trying again in 1000 ms',
      'fake a: reset; trying again in 2000 ms',
    ])
  })

  it('gives up after four tries', async () => {
    const { provider, initialise } = initialiser(() => {
      throw transient('still 503')
    })
    await expect(initialise('a')).rejects.toThrow('still 503')
    expect(provider.calls).toHaveLength(4)
  })

  it.each([
    ['an error that cannot pass', new SandboxInitError('no such image')],
    ['an error of another kind', new Error('a bug')],
  ])('does not try again after %s', async (_what, error) => {
    const { provider, initialise, pauses } = initialiser(() => {
      throw error
    })
    await expect(initialise('a')).rejects.toBe(error)
    expect([provider.calls.length, pauses.length]).toEqual([1, 0])
  })

  it('ends the wait of one who is aborted, and goes on for the others', async () => {
    const built = deferred()
    const seen: (AbortSignal | undefined)[] = []
    const { initialise, provider } = initialiser((_image, { signal }) => {
      seen.push(signal)
      return built.promise
    })
    const stop = new AbortController()
    const impatient = initialise('a', { signal: stop.signal })
    const patient = initialise('a')
    await setImmediate()
    stop.abort(new Error('gave up'))
    await expect(impatient).rejects.toThrow('gave up')
    expect(seen[0]?.aborted).toBe(false)
    built.resolve()
    expect((await patient).facts.planDigest).not.toBe('')
    expect(provider.calls).toHaveLength(1)
  })

  it('aborts what is under way when stopped, waits for its end, and starts nothing any more', async () => {
    const ended: string[] = []
    const {
      initialise,
      initialiser: all,
      provider,
    } = initialiser(async (image, { signal }) => {
      await new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
        .finally(() => setImmediate())
        .finally(() => ended.push(image))
    }, 1)
    const asked = [initialise('under way'), initialise('waiting')].map((work) => work.catch((error) => error))
    await setImmediate()
    await all.stop()
    expect(ended).toEqual(['under way'])
    expect(await Promise.all(asked)).toEqual([
      expect.objectContaining({ message: 'the run has ended' }),
      expect.objectContaining({ message: 'the run has ended' }),
    ])
    await expect(initialise('late')).rejects.toThrow('the run has ended')
    expect(provider.calls).toEqual(['taskInit under way'])
  })

  it('does not try again once stopped', async () => {
    const provider = new FakeProvider({
      taskInit: () => {
        throw transient('503')
      },
    })
    const pausing = deferred()
    const all = new ConfigInitialiser(1, async (_ms, signal) => {
      pausing.resolve()
      await new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    })
    const work = all.initialise(provider, await fakeConfig('a'), {}).catch((error) => error)
    await pausing.promise
    await all.stop()
    expect((await work).message).toBe('the run has ended')
    expect(provider.calls).toHaveLength(1)
  })

  it('cleans up after every key that it began, whatever became of it and of the cleanup of others', async () => {
    const cleaned: string[] = []
    class Careless extends FakeProvider {
      override async taskCleanup(config: { data: unknown }) {
        cleaned.push(String(config.data))
        if (config.data === 'a') throw new Error('cannot')
      }
    }
    const provider = new Careless({
      taskInit: (image) => {
        if (image === 'b') throw new Error('broken')
      },
    })
    const all = new ConfigInitialiser(4, async () => undefined)
    for (const image of ['a', 'b', 'c'])
      await all.initialise(provider, await fakeConfig(image), {}).catch(() => undefined)
    await all.cleanup()
    expect(cleaned).toEqual(['a', 'b', 'c'])
  })
})
