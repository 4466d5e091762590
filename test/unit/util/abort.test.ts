import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { sleep, soonAfterAbort, untilAborted } from '../../../src/util/abort.ts'
import { linkedController } from '../../../src/util/linked-controller.ts'
import { deferred } from '../../support/fake-run.ts'

describe('waiting until an abort', () => {
  it('gives what the work gives, and leaves no listener behind', async () => {
    const { signal } = new AbortController()
    expect(await untilAborted(Promise.resolve(1), signal)).toBe(1)
    await expect(untilAborted(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed')
    expect(await untilAborted(Promise.resolve(2), undefined)).toBe(2)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('ends with the reason of the abort while the work goes on', async () => {
    const stop = new AbortController()
    const work = deferred<string>()
    const waiting = untilAborted(work.promise, stop.signal)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    work.resolve('done')
    expect(await work.promise).toBe('done')
  })

  it('leaves no rejection unhandled when the abort came first or before', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', note)
    const [during, before] = [deferred(), deferred()]
    const stop = new AbortController()
    const waiting = untilAborted(during.promise, stop.signal)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(untilAborted(before.promise, stop.signal)).rejects.toThrow('enough')
    during.reject(new Error('late'))
    before.reject(new Error('late'))
    await setImmediate()
    await setImmediate()
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })
})

describe('a sleep', () => {
  it('ends by itself, with no listener left', async () => {
    const { signal } = new AbortController()
    await sleep(1, signal)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('ends at an abort with its reason, also one before it began', async () => {
    const stop = new AbortController()
    const sleeping = sleep(1_000_000, stop.signal)
    stop.abort(new Error('wake up'))
    await expect(sleeping).rejects.toThrow('wake up')
    await expect(sleep(1_000_000, stop.signal)).rejects.toThrow('wake up')
  })
})

describe('a linked controller', () => {
  it('aborts with the first of its parents, and with its reason', () => {
    const [one, other] = [new AbortController(), new AbortController()]
    using linked = linkedController(one.signal, undefined, other.signal)
    other.abort('the other')
    one.abort('the one')
    expect([linked.signal.aborted, linked.signal.reason]).toEqual([true, 'the other'])
  })

  it('is aborted from the start when a parent is', () => {
    using linked = linkedController(AbortSignal.abort('before'))
    expect(linked.signal.reason).toBe('before')
  })

  it('aborts alone, leaving its parents as they are', () => {
    const parent = new AbortController()
    using linked = linkedController(parent.signal)
    linked.abort('mine')
    expect([linked.signal.reason, parent.signal.aborted]).toEqual(['mine', false])
  })

  it('follows no longer once disposed, and leaves no listener on its parents', () => {
    const parent = new AbortController()
    const linked = linkedController(parent.signal)
    linked[Symbol.dispose]()
    parent.abort()
    expect(linked.signal.aborted).toBe(false)
    expect(getEventListeners(parent.signal, 'abort')).toEqual([])
  })
})

describe('waiting for some time after an abort', () => {
  it('gives what work ends with in that time, else the reason', async () => {
    const stop = new AbortController()
    const { signal } = stop
    const work = deferred()
    const never = new Promise<never>(() => undefined)
    const soon = soonAfterAbort(
      work.promise.then(() => 'ended'),
      { signal, graceMs: 60_000 },
    )
    const late = soonAfterAbort(never, { signal, graceMs: 1 })
    stop.abort(new Error('stopped'))
    await setImmediate()
    work.resolve()
    expect(await soon).toBe('ended')
    await expect(late).rejects.toThrow('stopped')
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
