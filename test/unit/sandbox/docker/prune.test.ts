import { expect, test } from 'vitest'
import { timeSpan } from '../../../../src/cli/sandbox/sandbox-prune.ts'
import { beginOfLiveRuns, reasonToKeep } from '../../../../src/sandbox/docker/cache/prune.ts'
import type { SurveyedRun } from '../../../../src/sandbox/docker/ownership/survey.ts'
import { bytes } from '../../../../src/util/quantities.ts'

const HOUR = 3_600_000
const facts = { idleMs: HOUR, neededSinceMs: Number.POSITIVE_INFINITY }

test.each([
  ['nothing needs it', { inUse: false, usedMs: 0 }, facts, undefined],
  ['a container is made from it', { inUse: true, usedMs: 0 }, facts, /container/],
  ['a run that is on has used it', { inUse: false, usedMs: 50 }, { ...facts, neededSinceMs: 50 }, /run/],
  ['no run that is on has', { inUse: false, usedMs: 49 }, { ...facts, neededSinceMs: 50 }, undefined],
  ['it was used too lately', { inUse: false, usedMs: 0 }, { ...facts, olderThanMs: HOUR + 1 }, /lately/],
  ['it is old enough', { inUse: false, usedMs: 0 }, { ...facts, olderThanMs: HOUR }, undefined],
])('an image of which %s', (_what, image, given, kept) => {
  const reason = reasonToKeep(image, given)
  if (kept) expect(reason).toMatch(kept)
  else expect(reason).toBeUndefined()
})

test('a run counts as on unless it is known to be dead, from its first object on', () => {
  const run = (owner: SurveyedRun['owner'], createdMs: number) =>
    ({
      run: `${owner}-${createdMs}`,
      owner,
      anchored: false,
      anchorless: false,
      objects: [{ createdMs }],
    }) as never
  const margin = 300_000
  expect(beginOfLiveRuns([])).toBe(Number.POSITIVE_INFINITY)
  expect(beginOfLiveRuns([run('dead', 10)])).toBe(Number.POSITIVE_INFINITY)
  expect(beginOfLiveRuns([run('dead', 10), run('alive', 900_000), run('unknown', 800_000)])).toBe(
    800_000 - margin,
  )
})

test('spans of time and sizes', () => {
  expect(['90s', '15m', '12h', '7d'].map(timeSpan)).toEqual([90_000, 900_000, 12 * HOUR, 7 * 24 * HOUR])
  for (const wrong of ['', '7', 'd', '1.5h', '-1d', '7w']) expect(() => timeSpan(wrong)).toThrow(/unit/)
  expect([0, 999, 1000, 1_234_567, 250e6, 12.34e9].map(bytes)).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '1.2 MB',
    '250 MB',
    '12.3 GB',
  ])
})
