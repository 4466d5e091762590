import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { execExitCode } from '../../../src/sandbox/docker/exec/exec-channel.ts'
import { fakeRun, fakeTask, sample, status } from '../../support/fake-run.ts'

const HOUR = 3_600_000
const BOUND_MS = 60_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** What a clock on the wall does that is set, or whose machine wakes up elsewhere. */
const jump = (ms: number) => void vi.setSystemTime(Date.now() + ms)

it.each([HOUR, -HOUR])(
  'a wall clock that jumps by %i ms is no time that a sample has worked or waited',
  async (ms) => {
    const jumpingTask = fakeTask({
      dataset: [sample('a', { setup: 'x', files: { '/a': 'b' } }), sample('b')],
      maxSamples: 1,
      limits: { timeMs: BOUND_MS, workingMs: BOUND_MS },
      setupTimeoutMs: BOUND_MS,
      scoreTimeoutMs: BOUND_MS,
      agent: async () => {
        jump(ms)
        await sleep(10)
      },
      scorers: [
        {
          name: 'late',
          timeoutMs: BOUND_MS,
          score: async () => {
            jump(ms)
            await sleep(10)
            return { value: 1 }
          },
        },
      ],
    })
    const run = await fakeRun(jumpingTask)
    expect(status(run)).toBe('success')
    for (const { status, totalMs, workingMs, phases } of run.records) {
      expect(status).toBe('success')
      for (const durationMs of [totalMs, workingMs, ...phases.map((phase) => phase.durationMs)]) {
        expect(durationMs).toBeGreaterThanOrEqual(0)
        expect(durationMs).toBeLessThan(BOUND_MS)
      }
    }
  },
)

it('a limit of time is reached although the wall clock is set back', async () => {
  const agent = async ({ signal }: { signal: AbortSignal }) => {
    jump(-HOUR)
    await sleep(BOUND_MS, undefined, { signal })
  }
  const { records } = await fakeRun(fakeTask({ dataset: [sample('a')], limits: { timeMs: 50 }, agent }))
  expect(records[0]).toMatchObject({ status: 'limit', limit: { type: 'time', limit: 50 } })
})

it('an exec that has no exit code yet is given up in time although the wall clock is set back', async () => {
  const inspect = async () => {
    jump(-HOUR)
    return { Running: true, ExitCode: null }
  }
  await expect(execExitCode({ inspect } as never, 50)).rejects.toThrow('has no exit code')
})

/** What is compared with times that are on the wall themselves. */
const BY_THE_WALL = [
  'agent/calls/response-cache.ts',
  'agent/providers/ai-sdk/retry-after.ts',
  'sandbox/docker/identity/owner.ts',
]

it('nothing else reckons with the clock on the wall', () => {
  const src = new URL('../../../src/', import.meta.url)
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const reckons = /Date\.now\(\)[^\n,;]*[-+]|[-+<>]=? Date\.now\(|= Date\.now\b(?!\()/
  const found = files.filter((name) => reckons.test(readFileSync(new URL(name, src), 'utf8')))
  expect(found.sort()).toEqual(BY_THE_WALL)
})
