import { expect, it } from 'vitest'
import { fakeRun, fakeTask } from '../../support/fake-run.ts'

const DATASET = [{ id: 1, input: 'x' }]

it("a run's agent takes the place of the task's own, and the log says so", async () => {
  const task = fakeTask({ dataset: DATASET, agent: async () => 'own' })
  const { records, log } = await fakeRun(task, { agent: async () => 'given' })
  expect(records.map(({ output }) => output)).toEqual(['given'])
  const named = await fakeRun(task, { agent: 'nop' })
  expect(named.records[0]?.output).toBe('')
  const [header] = named.log
  expect(header).toMatchObject({ task: { agent: 'nop' }, config: { given: { agent: 'nop' } } })
  expect(log[0]).not.toMatchObject({ config: { given: { agent: expect.anything() } } })
})

it('an unknown agent of a run is refused before anything starts', async () => {
  const run = fakeRun(fakeTask({ dataset: DATASET }), { agent: 'genius' })
  await expect(run).rejects.toThrow(
    "agent: unknown agent 'genius'; expected a function or one of oracle, nop, human",
  )
})
