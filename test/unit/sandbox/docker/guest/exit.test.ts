import { describe, expect, it } from 'vitest'
import { ContainerWatch } from '../../../../../src/sandbox/docker/events/container-watch.ts'
import { exitCause } from '../../../../../src/sandbox/docker/guest/exit-cause.ts'

describe('why a container ended whose main process was the guest', () => {
  it.each([
    [{ lost: 'tampered', oom: false, exitCode: undefined }, 'tampered'],
    [{ lost: 'ended', oom: false, exitCode: 65 }, 'tampered'],
    [{ lost: 'ended', oom: true, exitCode: 137 }, 'oom'],
    [{ lost: 'ended', oom: true, exitCode: 1 }, 'exited'],
    [{ lost: 'ended', oom: false, exitCode: 137 }, 'killed'],
    [{ lost: 'ended', oom: false, exitCode: 137, removed: true }, 'removed'],
    [{ lost: 'error', oom: false, exitCode: 0 }, 'daemon'],
    [{ lost: 'ended', oom: false, exitCode: undefined }, 'removed'],
    [{ lost: 'ended', oom: false, exitCode: 66 }, 'exited'],
  ] as const)('%j', (facts, reason) => {
    expect(exitCause({ removed: false, ...facts }).reason).toBe(reason)
  })
})

describe('what is seen of a container', () => {
  it('is its death once, whoever tells of it first', () => {
    const watch = new ContainerWatch('id')
    watch.take('oom')
    watch.takeWait(137, true)
    watch.take('destroy')
    expect(watch).toMatchObject({ oom: true, exitCode: 137, deaths: 1, isRemoved: true })
  })

  it('is an exit code that only the second tells', () => {
    const watch = new ContainerWatch('id')
    watch.take('destroy')
    expect(watch.exitCode).toBeUndefined()
    watch.takeWait(3, true)
    expect(watch.exitCode).toBe(3)
  })

  it('is each death of one that is started again', async () => {
    const watch = new ContainerWatch('id')
    watch.take('die', { exitCode: 1 })
    await watch.diedAfter(0)
    let second = false
    const waiting = watch.diedAfter(1).then(() => {
      second = true
    })
    await Promise.resolve()
    expect(second).toBe(false)
    watch.take('die', { exitCode: 2 })
    await waiting
    expect(watch).toMatchObject({ deaths: 2, exitCode: 2, isRemoved: false })
  })

  it('is whether it is paused', () => {
    const watch = new ContainerWatch('id')
    watch.take('pause')
    expect(watch.paused).toBe(true)
    watch.take('unpause')
    expect(watch.paused).toBe(false)
    watch.take('look', { state: 'paused' })
    expect(watch.paused).toBe(true)
    watch.take('look', { state: 'running' })
    expect(watch.paused).toBe(false)
    watch.take('look', { state: 'absent' })
    expect(watch.isRemoved).toBe(true)
  })
})
