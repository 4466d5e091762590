import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Wake } from '../../../src/util/wake.ts'

/** Whether a promise has settled by now. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  let over = false
  promise.then(
    () => {
      over = true
    },
    () => {
      over = true
    },
  )
  await setImmediate()
  return over
}

describe('a wake', () => {
  it('lets sleep until it is set', async () => {
    const wake = new Wake()
    const sleeping = wake.wait()
    expect(await isOver(sleeping)).toBe(false)
    wake.set()
    expect(await isOver(sleeping)).toBe(true)
  })

  it('remembers one set that nobody waited for, for one wait', async () => {
    const wake = new Wake()
    wake.set()
    wake.set()
    expect(await isOver(wake.wait())).toBe(true)
    expect(await isOver(wake.wait())).toBe(false)
  })

  it('wakes all who wait, and remembers nothing then', async () => {
    const wake = new Wake()
    const both = Promise.all([wake.wait(), wake.wait()])
    wake.set()
    expect(await isOver(both)).toBe(true)
    expect(await isOver(wake.wait())).toBe(false)
  })

  it('loses no set that comes between waking up and waiting again', async () => {
    const wake = new Wake()
    const twice = wake.wait().then(() => wake.wait())
    wake.set()
    wake.set()
    expect(await isOver(twice)).toBe(true)
  })

  it('ends a wait with the reason of its signal, and leaves no listener behind', async () => {
    const wake = new Wake()
    const stop = new AbortController()
    const aborted = wake.wait(stop.signal)
    const other = wake.wait()
    stop.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    await expect(wake.wait(stop.signal)).rejects.toThrow('enough')
    wake.set()
    await other
    const woken = new AbortController()
    const wait = wake.wait(woken.signal)
    wake.set()
    await wait
    expect(getEventListeners(woken.signal, 'abort')).toEqual([])
  })
})
