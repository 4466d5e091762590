import { Budget } from '../../limit/budget.ts'
import type { Score } from '../../score/scorer.ts'
import { untilAborted } from '../../util/abort.ts'
import { deadline } from '../../util/deadline.ts'
import { givenScore } from '../given-score.ts'
import { SampleAccess } from './sample-access.ts'
import type { SampleLife } from './sample-life.ts'
import type { Stage } from './sample-runner.ts'

const SCORE_TIMEOUT_MS = 1_800_000

/** Lets the scorers judge, one after the other, in a time of their own, also after one that failed: its error is that of the sample. */
export async function scorePhase(life: SampleLife, stage: Stage): Promise<void> {
  const { options, sandbox, phase, signal } = stage
  const { task } = options
  const timeoutMs = task.task.definition.scoreTimeoutMs ?? SCORE_TIMEOUT_MS
  using time = deadline(signal, timeoutMs, 'the scorers')
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
      const failures: unknown[] = []
      for (const { name, scorer } of task.scorers) {
        time.signal.throwIfAborted()
        using own = deadline(time.signal, scorer.timeoutMs, `scorer '${name}'`)
        const judge = async () => scorer.score(access.scorerContext(own.signal))
        const score = access.served(() => untilAborted(options.inScope(life, judge), own.signal))
        await score.then((given) => keepScore(life, name, given)).catch((error) => failures.push(error))
      }
      if (failures.length > 0) throw failures[0]
    })
  } finally {
    access.close()
  }
}

/** @throws BelljarError `scorer-failed` for what is no score */
function keepScore(life: SampleLife, name: string, given: Score | null): void {
  const score = givenScore(name, given)
  if (score) life.scores[name] = score
  else noteUnscored(life, name, given)
}

/** Why a scorer could not judge, where it says so. */
function noteUnscored(life: SampleLife, scorer: string, score: Score | null): void {
  if (!score?.explanation) return
  const { explanation, metadata } = score
  const data = { unscored: scorer, explanation, ...(metadata && { metadata }) }
  life.record({ type: 'info', startedMs: Date.now(), source: 'belljar', data })
}
