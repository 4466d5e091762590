import { expect, it } from 'vitest'
import type { Scorer } from '../../../src/score/scorer.ts'
import { fakeRun, fakeTask, sample } from '../../support/fake-run.ts'

const quick: Scorer = { name: 'quick', score: async () => ({ value: 1 }) }
/** Never ends by itself, but heeds its signal, or does not. */
const slow = (heeds: boolean, timeoutMs?: number): Scorer => ({
  name: 'slow',
  ...(timeoutMs !== undefined && { timeoutMs }),
  score: ({ signal }) =>
    new Promise((_resolve, reject) => {
      if (heeds) signal.addEventListener('abort', () => reject(signal.reason))
    }),
})

it.each([true, false])('a scorer ends at its own deadline, heeding its signal: %j', async (heeds) => {
  const task = fakeTask({ dataset: [sample('a')], scorers: [quick, slow(heeds, 50)], failOnError: false })
  const { records } = await fakeRun(task)
  expect(records).toMatchObject([
    { status: 'error', scores: { quick: { value: 1 } }, error: { kind: 'scorer' } },
  ])
  expect(records[0]?.error?.message).toContain("scorer 'slow' took longer than 50 ms")
})

it('a scorer that failed, or took too long, keeps no other from judging', async () => {
  const broken: Scorer = {
    name: 'broken',
    score: async () => {
      throw new Error('no idea')
    },
  }
  const task = fakeTask({
    dataset: [sample('a')],
    scorers: [broken, slow(true, 50), quick],
    failOnError: false,
  })
  const { records } = await fakeRun(task)
  expect(records).toMatchObject([
    { status: 'error', scores: { quick: { value: 1 } }, error: { message: 'no idea' } },
  ])
})

it('a scorer that cannot judge says why in the log, and counts for nothing', async () => {
  const unsure: Scorer = {
    name: 'unsure',
    score: async () => ({ value: Number.NaN, explanation: 'no report' }),
  }
  const { records, log, result } = await fakeRun(
    fakeTask({ dataset: [sample('a')], scorers: [unsure, quick] }),
  )
  expect(Object.keys(records[0]?.scores ?? {})).toEqual(['quick'])
  const told = log.flatMap((record) =>
    record.type === 'event' && record.event.type === 'info' ? [record.event.data] : [],
  )
  expect(told).toContainEqual({ unscored: 'unsure', explanation: 'no report' })
  expect(result.evals[0]?.footer.scores).toMatchObject([
    { scorer: 'unsure', scored: 0, unscored: 1, metrics: [{ value: null }, { value: null }] },
    { scorer: 'quick', scored: 1, unscored: 0 },
  ])
})

it('all scorers together end at the deadline of the task', async () => {
  const scorers = [slow(true, 60_000), quick]
  const task = fakeTask({ dataset: [sample('a')], scorers, scoreTimeoutMs: 50, failOnError: false })
  const { records } = await fakeRun(task)
  expect(records[0]?.error?.message).toContain('the scorers took longer than 50 ms')
})
