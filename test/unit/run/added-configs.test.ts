import { BelljarError, type Sample, SampleSource } from 'belljar'
import { FakeProvider } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import { deferred, fakeRun, fakeTask, sample, status } from '../../support/fake-run.ts'

describe('configurations first seen in added samples', () => {
  const fake = (image: string) => ({ kind: 'fake', config: { image } })

  it('are initialised once, before their samples, and never again', async () => {
    const batches: (Sample[] | null)[] = [
      [sample('x', { sandbox: fake('b') }), sample('y', { sandbox: fake('b') })],
      [sample('z', { sandbox: fake('b') })],
      null,
    ]
    const dataset = SampleSource.fromSamples([sample('seed', { sandbox: fake('a') })], {
      nextSamples: async () => batches.shift() ?? null,
    })
    const { provider } = await fakeRun(fakeTask({ dataset, sandbox: undefined }))
    expect(provider.calls.filter((call) => call.startsWith('taskInit'))).toEqual(['taskInit a', 'taskInit b'])
    expect(provider.calls.indexOf('taskInit b')).toBeLessThan(provider.calls.indexOf('sampleInit b 2'))
  })

  it('do not delay samples of a ready one, even with one sandbox', async () => {
    const built = deferred()
    const order: string[] = []
    const dataset = SampleSource.fromSamples([
      sample('slow', { sandbox: fake('slow') }),
      ...['a', 'b', 'c'].map((input) => sample(input, { sandbox: fake('quick') })),
    ])
    const provider = new FakeProvider({
      taskInit: async (image) => (image === 'slow' ? built.promise : undefined),
    })
    const agent = async ({ sample: { input } }: { sample: { input: string } }) => {
      order.push(input)
      if (input === 'c') built.resolve()
    }
    await fakeRun(fakeTask({ dataset, agent, sandbox: undefined, maxSamples: 1 }), {
      provider,
      maxSandboxes: 1,
    })
    expect(order).toEqual(['a', 'b', 'c', 'slow'])
  })

  it('fail only their own samples under failOnError: false, with the first error and no second try', async () => {
    const provider = new FakeProvider({
      taskInit: (image) => {
        if (image === 'broken') throw new BelljarError('sandbox-init', 'step 3 of the build failed')
      },
    })
    const added = [
      sample('x', { sandbox: fake('broken') }),
      sample('y', { sandbox: fake('broken') }),
      sample('z', { sandbox: fake('good') }),
    ]
    const batches: (Sample[] | null)[] = [added, [sample('w', { sandbox: fake('broken') })], null]
    const dataset = SampleSource.fromSamples([sample('seed', { sandbox: fake('good') })], {
      nextSamples: async () => batches.shift() ?? null,
    })
    const run = await fakeRun(fakeTask({ dataset, sandbox: undefined, failOnError: false }), { provider })
    const outcome = run.records.map(({ input, status: how, error }) => [
      input,
      how,
      error?.kind,
      error?.message,
    ])
    const broken = (input: string) => [input, 'error', 'config', 'step 3 of the build failed']
    expect(outcome).toEqual(
      expect.arrayContaining([broken('x'), broken('y'), broken('w'), ['z', 'success', undefined, undefined]]),
    )
    expect(provider.calls.filter((call) => call === 'taskInit broken')).toHaveLength(1)
    expect(status(run)).toBe('success')
  })

  it('are shared by tasks', async () => {
    const task = (name: string) => fakeTask({ name, dataset: [sample('x')], sandbox: fake('shared') })
    const { provider } = await fakeRun([task('one'), task('two')])
    expect(provider.calls.filter((call) => call === 'taskInit shared')).toHaveLength(1)
  })

  it('end the eval before any sample when every one of the seed fails', async () => {
    const provider = new FakeProvider({
      taskInit: () => {
        throw new Error('no such base image')
      },
    })
    let agents = 0
    const agent = async () => void agents++
    const run = await fakeRun(fakeTask({ dataset: [sample('a'), sample('b')], agent, failOnError: false }), {
      provider,
    })
    expect(status(run)).toBe('error')
    expect(run.result.evals[0]?.footer.error?.message).toContain('no such base image')
    expect(agents).toBe(0)
  })
})
