import fc, { type Scheduler } from 'fast-check'
import { expect } from 'vitest'
import { SampleNotCompletedError } from '../../src/errors.ts'
import { DispatchModel } from './dispatch-model.ts'
import { type Scenario, scenario } from './dispatch-scenario.ts'
import { drain, turn } from './drain.ts'

function checkCompletions(model: DispatchModel, epochs: number): void {
  expect(model.completions).toHaveLength(model.enqueued)
  for (const { planned, result } of model.completions) {
    if (result.status === 'fulfilled') {
      expect(result.value.map(({ id, epoch }) => [id, epoch])).toEqual(
        Array.from({ length: epochs }, (_, index) => [planned.id, index + 1]),
      )
    } else {
      expect(result.reason).toBeInstanceOf(SampleNotCompletedError)
      expect(model.isAborted).toBe(true)
    }
  }
}

function checkTotals(model: DispatchModel, epochs: number): void {
  const { total, success, error, limit, cancelled } = model.results.totals
  expect(total).toBe(model.planned.length * epochs)
  expect(success + error + limit + cancelled).toBe(model.records.length)
  expect(model.results.unfinished).toBe(total - model.records.length)
}

function checkOnce(model: DispatchModel): void {
  for (const list of [model.started, model.told]) expect(new Set(list).size).toBe(list.length)
  const recorded = model.records.map(({ id, epoch }) => `${id} ${epoch}`)
  expect(new Set(recorded).size).toBe(recorded.length)
  expect(recorded).toEqual(expect.arrayContaining(model.told))
}

function checkEnd(model: DispatchModel, reachedEnd: boolean, epochs: number): void {
  expect(model.running).toBe(0)
  if (model.isAborted) {
    if (!model.logFailed) expect(model.started).toHaveLength(model.records.length)
    return
  }
  expect(reachedEnd).toBe(true)
  expect(model.lastAnswer).toBeNull()
  expect(model.records).toHaveLength(model.planned.length * epochs)
  expect(model.told).toHaveLength(model.records.length)
}

async function disturb(
  scheduler: Scheduler,
  model: DispatchModel,
  { abort, resizes }: Scenario,
): Promise<void> {
  for (const limit of resizes)
    void turn(scheduler, `maxSamples becomes ${limit}`).then(() => model.resize(limit))
  if (abort?.at !== 'turn') return
  for (let turns = abort.count; turns > 0; turns--) await turn(scheduler, `${turns} turns before the abort`)
  model.stop.abort(new Error('cancelled'))
}

/**
 * Whatever sources return, agents enqueue, fails, blocks or is aborted, in whatever order: the dispatcher ends, runs every epoch of what was
 * added once, tells the source of each once and before it asks again, and its totals are exact.
 */
export const dispatchProperty = fc.asyncProperty(fc.scheduler(), scenario, async (scheduler, plan) => {
  const model = new DispatchModel(scheduler, plan)
  let outcome: boolean | unknown
  void model.run().then(
    (reachedEnd) => {
      outcome = reachedEnd
    },
    (error) => {
      outcome = error
    },
  )
  void disturb(scheduler, model, plan)
  await drain(scheduler)
  if (model.broken) throw model.broken
  expect(outcome).toBeTypeOf('boolean')
  checkEnd(model, outcome === true, plan.epochs)
  checkCompletions(model, plan.epochs)
  const { length } = model.started
  model.addLate()
  await drain(scheduler)
  expect(model.started).toHaveLength(length)
  expect(model.completions).toHaveLength(model.enqueued)
  checkTotals(model, plan.epochs)
  checkOnce(model)
})
