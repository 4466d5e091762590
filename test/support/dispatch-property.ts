import fc, { type Scheduler } from 'fast-check'
import { expect } from 'vitest'
import { SampleNotCompletedError } from '../../src/errors.ts'
import { runKey } from '../../src/run/dispatch/planned-sample.ts'
import { DispatchModel } from './dispatch-model.ts'
import { type Scenario, scenario } from './dispatch-scenario.ts'
import { drain, turn } from './drain.ts'

/** All records of a sample and epoch, first to last. */
function recordsOf(model: DispatchModel, id: string | number, epoch: number) {
  return model.records.filter((record) => record.id === id && record.epoch === epoch)
}

function checkCompletions(model: DispatchModel, { epochs, limit }: Scenario): void {
  expect(model.completions).toHaveLength(model.enqueued)
  for (const { handle, result } of model.completions) {
    if (result.status === 'fulfilled') {
      expect(result.value.map(({ id, epoch }) => [id, epoch])).toEqual(
        Array.from({ length: epochs }, (_, index) => [handle.id, index + 1]),
      )
      continue
    }
    expect(result.reason).toBeInstanceOf(SampleNotCompletedError)
    const { reason } = result.reason as SampleNotCompletedError
    if (reason === 'over-limit') expect(limit).toBeDefined()
    else if (reason === 'abandoned')
      expect(model.told.some((entry) => entry.startsWith(`${handle.id} `))).toBe(true)
    else expect(model.isAborted).toBe(true)
  }
}

/** Totals are those of the last record of every run, or of its being abandoned. */
function checkTotals(model: DispatchModel, { epochs }: Scenario): void {
  const totals = model.outcomes?.totals
  const expected = { success: 0, error: 0, limit: 0, cancelled: 0, abandoned: 0 }
  for (const { id } of model.planned) {
    for (let epoch = 1; epoch <= epochs; epoch++) {
      const last = recordsOf(model, id, epoch).at(-1)
      if (last) expected[last.status]++
      else if (model.abandoned.includes(runKey(id, epoch))) expected.abandoned++
    }
  }
  expect(totals?.total).toBe(model.planned.length * epochs)
  // A run put back whose eval ended at once has lost its earlier outcome, and got no other.
  if (model.requeued === 0 || !model.isAborted) expect(totals).toMatchObject(expected)
}

function checkOnce(model: DispatchModel): void {
  for (const list of [model.started, model.told]) expect(new Set(list).size).toBe(list.length)
  const recorded = model.records.map(({ id, epoch, uuid }) => `${id} ${epoch} ${uuid}`)
  expect(recorded).toEqual(
    expect.arrayContaining(model.told.filter((entry) => !entry.endsWith(' abandoned'))),
  )
  for (const record of model.records) {
    const [first, ...later] = recordsOf(model, record.id, record.epoch)
    expect(first?.supersedes).toBeUndefined()
    for (const { supersedes } of later) expect(supersedes).toBeDefined()
  }
}

/** Every run has ended and the source knows how. */
function checkEnd(model: DispatchModel, reachedEnd: boolean, { epochs, limit }: Scenario): void {
  expect(model.running).toBe(0)
  if (model.isAborted) {
    if (!model.logFailed) expect(model.started).toHaveLength(model.records.length + model.unrecorded)
    return
  }
  expect(reachedEnd).toBe(!model.isClosed)
  if (!model.isClosed && limit === undefined) expect(model.lastAnswer).toBeNull()
  for (const { id } of model.planned) {
    for (let epoch = 1; epoch <= epochs; epoch++) {
      const records = recordsOf(model, id, epoch).map(({ uuid }) => `${id} ${epoch} ${uuid}`)
      const expected = records.length > 0 ? records : [`${id} ${epoch} abandoned`]
      expect(model.told.filter((entry) => entry.startsWith(`${id} ${epoch} `))).toEqual(expected)
    }
  }
  if (limit !== undefined) expect(model.planned.length).toBeLessThanOrEqual(limit)
}

async function disturb(scheduler: Scheduler, model: DispatchModel, plan: Scenario): Promise<void> {
  const { abort, resizes, acts } = plan
  for (const limit of resizes)
    void turn(scheduler, `maxSamples becomes ${limit}`).then(() => model.resize(limit))
  for (const act of acts) {
    void (async () => {
      for (let turns = act.turn; turns > 0; turns--)
        await turn(scheduler, `${turns} turns before ${act.what}`)
      model.act(act)
    })()
  }
  if (abort?.at !== 'turn') return
  for (let turns = abort.count; turns > 0; turns--) await turn(scheduler, `${turns} turns before the abort`)
  model.stop.abort(new Error('cancelled'))
}

/**
 * Whatever sources return, agents enqueue and wait for, fails, is tried again, is halted, blocks, is cancelled, paused, put back or aborted,
 * in whatever order: the dispatcher ends, tells the source of every outcome once and before it asks again, and its totals are exact.
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
  do await drain(scheduler)
  while (model.resumeAll())
  if (model.broken) throw model.broken
  expect(outcome).toBeTypeOf('boolean')
  checkEnd(model, outcome === true, plan)
  checkCompletions(model, plan)
  const { length } = model.started
  model.addLate()
  await drain(scheduler)
  expect(model.started).toHaveLength(length)
  expect(model.completions).toHaveLength(model.enqueued)
  checkTotals(model, plan)
  checkOnce(model)
})
