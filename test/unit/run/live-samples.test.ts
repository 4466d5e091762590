import { setImmediate } from 'node:timers/promises'
import { FakeProvider } from 'belljar/testing'
import { expect, it } from 'vitest'
import type { EvalControl, LiveSample } from '../../../src/run/control/eval-control.ts'
import { deferred, fakeRun, fakeTask, sample } from '../../support/fake-run.ts'

it('one who controls a run sees what each sample does, and since when', async () => {
  const beganMs = Date.now()
  let control: EvalControl | undefined
  let seen: LiveSample[] = []
  const task = fakeTask({
    dataset: [sample('works'), sample('waits')],
    maxSamples: 1,
    agent: async () => {
      if (seen.length === 0) seen = control?.samples() ?? []
    },
  })
  await fakeRun(task, {
    onStart: ({ evals }) => {
      control = evals[0]
    },
  })
  expect(seen).toMatchObject([
    { id: 1, epoch: 1, attempt: 1, state: 'working', phase: 'agent' },
    { id: 2, state: 'waiting', phase: 'queue', waitsFor: 'a sample slot' },
  ])
  for (const { sinceMs } of seen) expect(sinceMs).toBeGreaterThanOrEqual(beganMs)
})

it('and what it waits for: its configuration, a sample slot, a sandbox slot', async () => {
  const built = deferred()
  const provider = new FakeProvider({ taskInit: (image) => (image === 'slow' ? built.promise : undefined) })
  let control: EvalControl | undefined
  const seen: [string, string | undefined][][] = []
  const look = () => seen.push(control?.samples().map(({ phase, waitsFor }) => [phase, waitsFor]) ?? [])
  const task = fakeTask({
    dataset: [
      sample('a'),
      sample('b'),
      sample('c'),
      sample('d', { sandbox: { kind: 'fake', config: { image: 'slow' } } }),
    ],
    maxSamples: 2,
    agent: async () => {
      await setImmediate()
      look()
      built.resolve()
    },
  })
  await fakeRun(task, {
    provider,
    maxSandboxes: 1,
    onStart: ({ evals }) => {
      control = evals[0]
    },
  })
  expect(seen[0]).toEqual([
    ['agent', undefined],
    ['wait', 'a sandbox slot'],
    ['queue', 'a sample slot'],
    ['prepare', 'fake slow'],
  ])
})
