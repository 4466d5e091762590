import { grouped, mean, type Scorer, stderr } from 'belljar'
import { describe, expect, it } from 'vitest'
import { fakeRun, fakeTask, sample } from '../../support/fake-run.ts'

/** Passes in the first epoch only; the metadata's level is what it gives in others. */
const judge: Scorer = {
  name: 'judge',
  metrics: [grouped(mean(), 'level'), stderr({ cluster: 'level' })],
  score: async ({ epoch }) => ({ value: epoch === 1 ? 1 : 0 }),
}

const dataset = [sample('a', { metadata: { level: 'easy' } }), sample('b', { metadata: { level: 'hard' } })]

describe('reducers of epochs', () => {
  it('stand side by side, each with its metrics and groups', async () => {
    const reducers = ['mean', 'max', 'pass_at_2', 'collect'] as const
    const run = await fakeRun(fakeTask({ dataset, scorers: [judge], epochs: 2, reducers }))
    const { scores } = run.result.evals[0]!.footer
    expect(scores.map(({ reducer, metrics }) => [reducer, metrics[0]?.value])).toEqual([
      ['mean', 0.5],
      ['max', 1],
      ['pass_at_2', 1],
      ['collect', 0.5],
    ])
    expect(scores[0]?.metrics.map(({ name }) => name)).toEqual(['mean', 'mean[easy]', 'mean[hard]', 'stderr'])
  })

  it('are refused when they need more epochs than there are', async () => {
    const refused = fakeRun(fakeTask({ dataset, scorers: [judge], epochs: 2, reducers: ['pass_at_3'] }))
    await expect(refused).rejects.toThrow(/pass_at_3.*3 epochs.*2/)
  })

  it('are not named where nothing was asked for', async () => {
    const run = await fakeRun(fakeTask({ dataset, scorers: [judge], epochs: 2 }))
    expect(run.result.evals[0]?.footer.scores[0]).not.toHaveProperty('reducer')
  })
})
