import { BelljarError } from '../../errors.ts'
import { Budget } from '../../limit/budget.ts'
import { isScore } from '../../log/records.ts'
import type { Score } from '../../score/scorer.ts'
import { untilAborted } from '../../util/abort.ts'
import { linkedController } from '../../util/linked-controller.ts'
import { SampleAccess } from './sample-access.ts'
import type { SampleLife } from './sample-life.ts'
import type { Stage } from './sample-runner.ts'

const SCORE_TIMEOUT_MS = 1_800_000

/** Lets the scorers judge, one after the other, in a time of their own. */
export async function scorePhase(life: SampleLife, stage: Stage): Promise<void> {
  const { options, sandbox, phase, signal } = stage
  const { task } = options
  const timeoutMs = task.task.definition.scoreTimeoutMs ?? SCORE_TIMEOUT_MS
  using time = linkedController(signal)
  const timer = setTimeout(
    () => time.abort(new Error(`the scorers took longer than ${timeoutMs} ms`)),
    timeoutMs,
  )
  const access = new SampleAccess(life, {
    sandbox,
    models: options.models,
    group: options.eval,
    budget: new Budget({}, options.prices),
    signal: time.signal,
    callDefaults: options.callDefaults,
    letGo: async () => undefined,
  })
  life.run.control.state = 'scoring'
  try {
    await phase('score', async () => {
      for (const { name, scorer } of task.scorers) {
        const judge = () => scorer.score(access.scorerContext())
        const score = await untilAborted(options.inScope(life, judge), time.signal)
        if (isUnscored(score)) continue
        if (!isScore(score))
          throw new BelljarError(
            'scorer-failed',
            `scorer '${name}' returned no score: ${JSON.stringify(score)}`,
          )
        life.scores[name] = score
      }
    })
  } finally {
    clearTimeout(timer)
    access.close()
  }
}

/** NaN is what the field writes for "unscored". */
function isUnscored(score: Score | null): score is null {
  return score === null || (typeof score === 'object' && Number.isNaN(score.value))
}
