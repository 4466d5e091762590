import { expect, it } from 'vitest'
import { ProgressState } from '../../../src/cli/progress-state.ts'
import type { RunEvent } from '../../../src/run/run-event.ts'

const phase = (id: string, name: string) =>
  ({ type: 'sample-phase', task: 't', id, epoch: 1, phase: name }) as RunEvent

it('names the sample that is longest in its phase, once that is long', () => {
  let nowMs = 0
  const state = new ProgressState(() => nowMs)
  state.take({ type: 'samples-added', task: 't', total: 3 } as RunEvent)
  state.take(phase('a b', 'agent'))
  nowMs = 20_000
  state.take(phase('c', 'wait'))
  expect(state.lines()).toEqual(['t: 0 of 3 done; now: agent 1, wait 1'])
  nowMs = 45_000
  expect(state.lines()).toEqual([
    't: 0 of 3 done; now: agent 1, wait 1; longest: sample a b (epoch 1) in agent for 45 s',
  ])
  state.take(phase('a b', 'score'))
  nowMs = 60_000
  expect(state.lines()[0]).toContain('longest: sample c (epoch 1) in wait for 40 s')
})

it('names what is being made ready, and since when', () => {
  let nowMs = 0
  const state = new ProgressState(() => nowMs)
  state.take({ type: 'samples-added', task: 't', total: 1 } as RunEvent)
  const config = { task: 't', description: 'build ./env' }
  state.take({ type: 'config-begin', ...config })
  nowMs = 12_000
  expect(state.lines()).toEqual(['t: 0 of 1 done; preparing build ./env for 12 s'])
  state.take({ type: 'config-ready', ...config, durationMs: 12_000 })
  expect(state.lines()).toEqual(['t: 0 of 1 done'])
  expect(state.hasEnded).toBe(false)
  state.take({ type: 'eval-end', task: 't' } as RunEvent)
  expect([state.hasEnded, state.lines()]).toEqual([true, []])
})
