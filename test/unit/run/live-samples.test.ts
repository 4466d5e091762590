import { expect, it } from 'vitest'
import type { EvalControl, LiveSample } from '../../../src/run/control/eval-control.ts'
import { fakeRun, fakeTask, sample } from '../../support/fake-run.ts'

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
    { id: 2, state: 'waiting', phase: 'queue' },
  ])
  for (const { sinceMs } of seen) expect(sinceMs).toBeGreaterThanOrEqual(beganMs)
})
