import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { StopSignals } from '../../../src/cli/stop-signals.ts'

function setup(patienceMs?: number) {
  const seen: unknown[] = []
  const stop = new StopSignals({
    onFirst: (signal) => seen.push(signal),
    onLeave: () => seen.push('leave'),
    exit: (code) => seen.push(code),
    ...(patienceMs !== undefined && { patienceMs }),
  })
  return { seen, stop }
}

it('the first signal aborts, the second leaves with the code of the first', () => {
  const { seen, stop } = setup()
  process.emit('SIGTERM', 'SIGTERM')
  expect([stop.signal.aborted, stop.received, seen]).toEqual([true, 'SIGTERM', ['SIGTERM']])
  process.emit('SIGINT', 'SIGINT')
  expect(seen).toEqual(['SIGTERM', 'leave', 143])
  stop[Symbol.dispose]()
})

it('a run that does not end by itself is left', async () => {
  const { seen, stop } = setup(20)
  process.emit('SIGINT', 'SIGINT')
  await sleep(100)
  expect(seen).toEqual(['SIGINT', 'leave', 130])
  stop[Symbol.dispose]()
})

it('a run that ends in time is not', async () => {
  const { seen, stop } = setup(20)
  process.emit('SIGHUP', 'SIGHUP')
  stop[Symbol.dispose]()
  await sleep(100)
  expect(seen).toEqual(['SIGHUP'])
})
