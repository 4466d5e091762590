import { ConfigError, evaluate } from 'belljar'
import { FakeProvider } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import { fakeRun, fakeTask, sample } from '../../support/fake-run.ts'

describe('bad input is refused before anything is started', () => {
  it.each([
    ['an empty data set', { dataset: [] }, /data set is empty/],
    [
      'an unknown sandbox kind',
      { dataset: [sample('x')], sandbox: 'podman' },
      /unknown sandbox kind 'podman'.*docker/,
    ],
    ['an invalid sample', { dataset: [{ inputs: 'x' } as never] }, /task 'fake-task', sample 1: .*input/],
    [
      'two samples with one id',
      { dataset: [sample('a', { id: 1 }), sample('b', { id: '1' })] },
      /duplicate sample id '1'/,
    ],
  ])('%s', async (_what, definition, message) => {
    const provider = new FakeProvider()
    await expect(
      evaluate(fakeTask(definition), {
        logDir: '/nonexistent-never-made',
        providers: { fake: async () => provider },
      }),
    ).rejects.toThrow(message)
    expect(provider.calls).toEqual([])
  })

  it('an unknown agent', () => {
    expect(() => fakeTask({ dataset: [sample('x')], agent: 'genius' })).toThrow(
      /unknown agent 'genius'.*oracle/,
    )
  })

  it('a configuration of the seed that cannot be resolved', async () => {
    const provider = new FakeProvider({
      resolve: () => {
        throw new ConfigError('there is no Dockerfile in /nowhere')
      },
    })
    await expect(fakeRun(fakeTask({ dataset: [sample('x')] }), { provider })).rejects.toThrow(/no Dockerfile/)
    expect(provider.calls).toEqual(['close'])
  })
})
