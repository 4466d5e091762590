import { describe, expect, it } from 'vitest'
import { ConnectionLimiter, type ConnectionLimiterOptions } from '../../../src/limit/connection-limiter.ts'

/** A limiter, its clock, and rounds of as many calls at once as it lets through. */
function limited(options: ConnectionLimiterOptions = {}) {
  const clock = { ms: 0 }
  const limiter = new ConnectionLimiter({ ...options, now: () => clock.ms })
  const round = async (calls = limiter.limit) => {
    const slots = await Promise.all(Array.from({ length: calls }, () => limiter.acquire()))
    for (const slot of slots) {
      limiter.succeeded()
      slot.release()
    }
    await new Promise(setImmediate)
  }
  return { limiter, clock, round }
}

describe('a connection limiter', () => {
  it('doubles with each round that went well, up to its end', async () => {
    const { limiter, round } = limited({ start: 10, max: 50 })
    const limits = []
    for (let index = 0; index < 4; index++) {
      await round()
      limits.push(limiter.limit)
    }
    expect(limits).toEqual([20, 40, 50, 50])
    expect(limiter.history).toMatchObject([
      { from: 10, to: 20, reason: 'slow_start' },
      { from: 20, to: 40 },
      { from: 40, to: 50 },
    ])
  })

  it('does not grow by calls that never tried its limit', async () => {
    const { limiter, round } = limited()
    for (let index = 0; index < 20; index++) await round(3)
    expect(limiter.limit).toBe(10)
  })

  it('is cut once by all the calls that were refused together, and grows slowly from then on', async () => {
    const { limiter, clock, round } = limited({ start: 40 })
    for (let index = 0; index < 15; index++) limiter.refused()
    expect(limiter.limit).toBe(28)
    await round()
    expect(limiter.limit).toBe(28)
    clock.ms += 10_000
    await round()
    expect(limiter.limit).toBe(30)
    expect(limiter.history.map(({ reason }) => reason)).toEqual(['rate_limit', 'steady_state_up'])
  })

  it('is cut again when it is refused later, never below one', () => {
    const { limiter, clock } = limited({ start: 4 })
    const limits = [1, 2, 3, 4, 5].map(() => {
      limiter.refused()
      clock.ms += 10_000
      return limiter.limit
    })
    expect(limits).toEqual([2, 1, 1, 1, 1])
  })

  it('stays low as long as the provider asks', async () => {
    const { limiter, clock, round } = limited()
    limiter.refused(60_000)
    clock.ms += 59_999
    await round()
    expect(limiter.limit).toBe(7)
    clock.ms += 1
    await round()
    expect(limiter.limit).toBe(8)
  })

  it('keeps a limit that was given, until it is let adapt again', async () => {
    const { limiter, clock, round } = limited({ limit: 5 })
    limiter.refused()
    await round()
    expect(limiter.limit).toBe(5)
    limiter.set(9)
    expect(limiter).toMatchObject({ limit: 9, adapts: false })
    limiter.set(undefined)
    clock.ms += 10_000
    await round()
    expect(limiter).toMatchObject({ limit: 10, adapts: true })
    expect(limiter.history.map(({ reason }) => reason)).toEqual(['manual', 'steady_state_up'])
  })

  it('lets those in who wait when it is raised, and takes nothing away when it is lowered', async () => {
    const { limiter } = limited({ limit: 1 })
    const first = await limiter.acquire()
    const waiting = [limiter.acquire(), limiter.acquire()]
    expect(limiter.waiting).toBe(2)
    limiter.set(3)
    const [second] = await Promise.all(waiting)
    limiter.set(1)
    expect(limiter.held).toBe(3)
    first.release()
    second?.release()
    await new Promise(setImmediate)
    expect(limiter.held).toBe(1)
  })
})
