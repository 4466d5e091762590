import { expect, it } from 'vitest'
import { ProgressState } from '../../../src/cli/show/progress-state.ts'
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
  state.take({ type: 'samples-added', task: 't', eval: 'e', total: 1 })
  const config = { task: 't', eval: 'e', description: 'build ./env' }
  state.take({ type: 'config-begin', ...config })
  nowMs = 12_000
  expect(state.lines()).toEqual(['t: 0 of 1 done; preparing build ./env for 12 s'])
  state.take({ type: 'config-ready', ...config, durationMs: 12_000 })
  expect(state.lines()).toEqual(['t: 0 of 1 done'])
  expect(state.hasEnded).toBe(false)
  state.take({ type: 'eval-end', task: 't', eval: 'e' } as RunEvent)
  expect([state.hasEnded, state.lines()]).toEqual([true, []])
})

it('has a line for each model of a task, and names the model only where there are several', () => {
  const state = new ProgressState()
  const start = (id: string, task: string, model: string) =>
    ({ type: 'eval-start', task, eval: id, log: '', header: { model } }) as RunEvent
  const added = (id: string, task: string, total: number) =>
    ({ type: 'samples-added', task, eval: id, total }) as RunEvent
  const events = [start('1', 'a', 'x/one'), start('2', 'a', 'x/two'), start('3', 'b', 'x/one')]
  for (const event of [...events, added('1', 'a', 3), added('2', 'a', 4), added('3', 'b', 5)])
    state.take(event)
  expect(state.lines()).toEqual(['a (x/one): 0 of 3 done', 'a (x/two): 0 of 4 done', 'b: 0 of 5 done'])
})

it('says what a set waits for while nothing else goes on', () => {
  let nowMs = 0
  const state = new ProgressState(() => nowMs)
  state.take({ type: 'set-start', set: 's', tasks: 2, logDir: 'logs' })
  expect(state.lines()).toEqual([])
  for (const pauseMs of [60_000, 30_000])
    state.take({ type: 'set-again', name: 'a', attempt: 2, pauseMs, why: 'broke' })
  expect(state.lines()).toEqual(['set: next attempt in 30 s'])
  nowMs = 31_000
  expect(state.lines()).toEqual(['set: next attempt in 29 s'])
  state.take({ type: 'samples-added', task: 't', eval: 'e', total: 3 })
  expect(state.lines()).toEqual(['t: 0 of 3 done'])
})
