import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Limiter, type Slot } from '../../../src/limit/limiter.ts'

/** Asks for slots by name and keeps the order in which they were granted. */
function users(limiter: Limiter) {
  const granted: string[] = []
  const slots = new Map<string, Slot>()
  const ask = (name: string, signal?: AbortSignal) =>
    limiter.acquire({ group: name.split(' ')[0], signal }).then((slot) => {
      granted.push(name)
      slots.set(name, slot)
    })
  const giveBack = async (name: string) => {
    slots.get(name)?.release()
    await setImmediate()
  }
  return { granted, ask, giveBack }
}

async function holdEach(names: readonly string[]): Promise<string[]> {
  const { granted, ask, giveBack } = users(new Limiter(1))
  const asked = names.map((name) => ask(name))
  await setImmediate()
  for (let served = 0; served < names.length; served++) await giveBack(granted[served]!)
  await Promise.all(asked)
  return granted
}

describe('a limiter', () => {
  it('grants as many slots as its limit, and further ones as slots are given back', async () => {
    const limiter = new Limiter(2)
    const { granted, ask, giveBack } = users(limiter)
    for (const name of ['a', 'b', 'c']) void ask(name)
    await setImmediate()
    expect(granted).toEqual(['a', 'b'])
    expect([limiter.held, limiter.waiting]).toEqual([2, 1])
    await giveBack('a')
    expect(granted).toEqual(['a', 'b', 'c'])
  })

  it('serves a group in the order in which it asked', async () => {
    expect(await holdEach(['a 1', 'a 2', 'a 3', 'a 4'])).toEqual(['a 1', 'a 2', 'a 3', 'a 4'])
  })

  it('lets groups take turns, however many wait in one of them', async () => {
    const order = await holdEach(['a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'b 2', 'c 1'])
    expect(order).toEqual(['a 1', 'b 1', 'c 1', 'a 2', 'b 2', 'a 3', 'a 4'])
  })

  it('serves the group that went unserved the longest when it comes back', async () => {
    const limiter = new Limiter(1)
    const { granted, ask, giveBack } = users(limiter)
    for (const name of ['old 1', 'busy 1', 'busy 2']) void ask(name)
    await setImmediate()
    await giveBack('old 1')
    await giveBack('busy 1')
    void ask('busy 3')
    void ask('old 2')
    await giveBack('busy 2')
    expect(granted.at(-1)).toBe('old 2')
  })

  it('ends the wait of an aborted one with the reason, and serves those behind it', async () => {
    const limiter = new Limiter(1)
    const { granted, ask, giveBack } = users(limiter)
    const stop = new AbortController()
    void ask('holder')
    const aborted = ask('impatient', stop.signal)
    void ask('patient')
    stop.abort(new Error('no more time'))
    await expect(aborted).rejects.toThrow('no more time')
    expect([limiter.held, limiter.waiting]).toEqual([1, 1])
    await giveBack('holder')
    expect(granted).toEqual(['holder', 'patient'])
  })

  it('refuses at once when the signal was aborted before', async () => {
    const limiter = new Limiter(1)
    await expect(limiter.acquire({ signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow(
      'too late',
    )
    expect(limiter.held).toBe(0)
  })

  it('leaves a slot with its holder when the signal of the wait is aborted later', async () => {
    const limiter = new Limiter(1)
    const stop = new AbortController()
    const slot = await limiter.acquire({ signal: stop.signal })
    stop.abort()
    await setImmediate()
    expect(limiter.held).toBe(1)
    slot.release()
    await setImmediate()
    expect(limiter.held).toBe(0)
  })

  it('either ends the wait or grants the slot, never both, however soon after a release the abort comes', async () => {
    for (let ticks = 0; ticks < 12; ticks++) {
      const limiter = new Limiter(1)
      const stop = new AbortController()
      const first = await limiter.acquire()
      const second = limiter.acquire({ signal: stop.signal }).catch(() => undefined)
      first.release()
      for (let tick = 0; tick < ticks; tick++) await undefined
      stop.abort()
      await setImmediate()
      expect(limiter.held).toBe((await second) ? 1 : 0)
    }
  })

  it('takes nothing from holders when lowered, and grants again once few enough hold', async () => {
    const limiter = new Limiter(3)
    const { granted, ask, giveBack } = users(limiter)
    for (const name of ['a', 'b', 'c', 'd']) void ask(name)
    await setImmediate()
    limiter.limit = 1
    expect(limiter.held).toBe(3)
    await giveBack('a')
    await giveBack('b')
    expect(granted).toEqual(['a', 'b', 'c'])
    await giveBack('c')
    expect(granted).toEqual(['a', 'b', 'c', 'd'])
  })

  it('grants at once to as many as wait when raised', async () => {
    const limiter = new Limiter(1)
    const { granted, ask } = users(limiter)
    for (const name of ['a', 'b', 'c', 'd']) void ask(name)
    limiter.limit = 3
    await setImmediate()
    expect(granted).toEqual(['a', 'b', 'c'])
  })

  it('counts a slot that is given back twice once', async () => {
    const limiter = new Limiter(1)
    const slot = await limiter.acquire()
    slot.release()
    slot[Symbol.dispose]()
    await limiter.acquire()
    await setImmediate()
    slot.release()
    await setImmediate()
    expect(limiter.held).toBe(1)
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3' as unknown as number])(
    'refuses %s as a limit, at first and later',
    (limit) => {
      expect(() => new Limiter(limit)).toThrow(/expected a limit that is an integer of at least 1, got/)
      const limiter = new Limiter(2)
      expect(() => {
        limiter.limit = limit
      }).toThrow(TypeError)
      expect(limiter.limit).toBe(2)
    },
  )
})
