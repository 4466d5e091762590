import { describe, expect, it } from 'vitest'
import type { SampleLimits } from '../../../src/limit/budget.ts'
import { timeLimitReached } from '../../../src/limit/time-watch.ts'
import { WorkClock } from '../../../src/limit/work-clock.ts'

/** A clock that only sleeping moves; `at` is called at each time that it shows. */
function watched(limits: SampleLimits, at: (nowMs: number, clock: WorkClock) => void = () => undefined) {
  let now = 0
  const clock = new WorkClock(() => now)
  const stop = new AbortController()
  const sleep = async (ms: number) => {
    now += ms
    at(now, clock)
    if (now > 60_000) stop.abort()
  }
  return timeLimitReached({ limits, clock, sleep, signal: stop.signal }).then((error) => ({ error, now }))
}

describe('a limit of time', () => {
  it.each([
    [{ timeMs: 2500 }, 'time', 2500],
    [{ workingMs: 300 }, 'working', 300],
    [{ timeMs: 900, workingMs: 400 }, 'working', 400],
  ])('%j is reached exactly then', async (limits, type, limit) => {
    expect(await watched(limits)).toMatchObject({ error: { type, limit }, now: limit })
  })

  it('may be set, raised and lowered while it runs', async () => {
    const limits: { timeMs?: number } = {}
    const { error, now } = await watched(limits, (at) => {
      if (at === 3000) limits.timeMs = 9000
      if (at === 5000) limits.timeMs = 5500
    })
    expect([error?.limit, now]).toEqual([5500, 5500])
  })

  it('of working time does not count waits', async () => {
    let end = () => undefined as void
    const { error, now } = await watched({ workingMs: 2500 }, (at, clock) => {
      if (at === 1000) void clock.whileWaiting(() => new Promise<void>((resolve) => (end = resolve)))
      if (at === 4000) end()
    })
    expect(error?.type).toBe('working')
    expect(now).toBeGreaterThanOrEqual(5500)
  })

  it('that is none ends with the sample', async () => {
    expect((await watched({})).error).toBeUndefined()
  })
})

describe('working time', () => {
  it('is counted from when work begins, and so are waits', async () => {
    let now = 0
    let end = () => undefined as void
    const clock = new WorkClock(() => now)
    const wait = () => clock.whileWaiting(() => new Promise<void>((resolve) => (end = resolve)))
    const early = wait()
    now = 40
    end()
    await early
    now = 100
    clock.begin()
    const late = wait()
    now = 130
    end()
    await late
    now = 135
    expect([clock.wallMs, clock.workingMs, clock.waitedMs]).toEqual([35, 5, 70])
  })

  it('counts waits that overlap once', async () => {
    let now = 0
    const ends: (() => void)[] = []
    const clock = new WorkClock(() => now)
    const wait = () => clock.whileWaiting(() => new Promise<void>((resolve) => ends.push(resolve)))
    const waits = [wait()]
    now = 10
    waits.push(wait())
    now = 30
    for (const end of ends) end()
    await Promise.all(waits)
    now = 35
    expect([clock.wallMs, clock.waitedMs, clock.workingMs]).toEqual([35, 30, 5])
  })
})
