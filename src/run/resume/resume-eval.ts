import { isJournalPath } from '../../log/log-paths.ts'
import { openPriorLog } from '../../log/prior/open-prior-log.ts'
import { type PriorLog, sampleKey } from '../../log/prior/prior-log.ts'
import { ResumeConfigError } from '../../log/prior/resume-errors.ts'
import type { FooterRecord, HeaderRecord } from '../../log/records/records.ts'
import { finishLog } from '../../log/write/finish-log.ts'
import type { EvaluateOptions } from '../options.ts'
import type { ResolvedTask } from '../resolved-task.ts'
import type { EvalRun } from '../run-eval.ts'
import { sandboxChange } from './eval-reuse.ts'
import { type GatesPassed, passGates } from './gates.ts'
import { Reuse } from './reuse.ts'

export interface ResumeRequest {
  readonly evaluation: EvalRun
  /** Of the eval that would go on. */
  readonly header: HeaderRecord
  readonly only: EvaluateOptions['only']
}

export type Resumed =
  /** There is nothing left to run. */
  | {
      readonly kind: 'complete'
      readonly log: string
      readonly header: HeaderRecord
      readonly footer: FooterRecord
    }
  | {
      readonly kind: 'goes-on'
      readonly header: HeaderRecord
      readonly reuse: Reuse
      readonly carried: AsyncGenerator<Buffer>
      readonly warnings: readonly string[]
    }

/**
 * Everything that is decided before an eval goes on from a log, for the API and the command line alike: can its header be read, does the
 * version fit, is it of this task, is all as it was that results depend on, is there anything left to run.
 * @throws RunExistsError, ResumeVersionError, ResumeIdentityError, ResumeConfigError, ConfigError
 */
export async function resumeEval(path: string, request: ResumeRequest): Promise<Resumed> {
  const prior = await openPriorLog(path)
  try {
    const { evaluation, header, only } = request
    const { task } = evaluation
    const { header: recorded, problem } = prior
    const aliases = task.task.definition.aliases ?? []
    const passed = passGates({ log: prior.path, recorded, problem, current: header, aliases })
    await checkSandboxes(prior, evaluation)
    const { footer } = prior
    if (footer && isComplete(prior, task)) {
      await prior[Symbol.asyncDispose]()
      const log = isJournalPath(prior.path) ? (await finishLog(prior.path)).path : prior.path
      return { kind: 'complete', log, header: passed.recorded, footer }
    }
    return goesOn(prior, passed, { task, header, only })
  } catch (error) {
    await prior[Symbol.asyncDispose]()
    throw error
  }
}

function goesOn(
  prior: PriorLog,
  { recorded, warnings, changed }: GatesPassed,
  { task, header, only }: { task: ResolvedTask; header: HeaderRecord; only: EvaluateOptions['only'] },
): Resumed {
  const hasState = prior.state !== undefined && task.source?.restoreState !== undefined
  const { run, eval: evalId, createdAt, belljar, lineage = [] } = recorded
  const link = { run, eval: evalId, createdAt, belljar, ...(changed.length > 0 && { changed: [...changed] }) }
  const { identity, ...rest } = header
  return {
    kind: 'goes-on',
    // A log of which nobody knows what it was of says so no more than before.
    header: { ...rest, ...(recorded.identity && { identity }), lineage: [...lineage, link] },
    reuse: new Reuse(prior, { hasState, only }),
    carried: prior.lines({ withState: hasState }),
    warnings: [...warnings, ...prior.warnings],
  }
}

async function checkSandboxes({ path, samples }: PriorLog, evaluation: EvalRun): Promise<void> {
  const changes: string[] = []
  const { seed, epochs } = evaluation.task
  for (const { id, sample } of seed) {
    for (let epoch = 1; epoch <= epochs; epoch++) {
      const before = samples.get(sampleKey({ id, epoch }))?.sandboxKey
      const now = before === undefined ? undefined : await evaluation.sandboxKeyOf(sample)
      if (now !== undefined && before !== now) changes.push(sandboxChange(id, before, now))
    }
  }
  if (changes.length > 0) throw new ResumeConfigError({ log: path, changes })
}

/**
 * Nothing less: it ended well, every sample and epoch that is wanted has ended without error or was left out by its task's early stopping, and a
 * source has come to its end.
 */
export function isComplete({ footer, samples }: PriorLog, resolved: ResolvedTask): boolean {
  if (footer?.status !== 'success') return false
  const { seed, epochs, source, task } = resolved
  const { error, cancelled, abandoned = 0 } = footer.totals
  const stopsEarly = task.definition.earlyStopping !== undefined && footer.stopped === undefined
  if (source && (!footer.sourceEnded || error + cancelled > 0 || (abandoned > 0 && !stopsEarly))) return false
  let left = stopsEarly ? abandoned : 0
  return seed.every(({ id }) => {
    for (let epoch = 1; epoch <= epochs; epoch++) {
      const sample = samples.get(sampleKey({ id, epoch }))
      if (sample ? sample.failure : --left < 0) return false
    }
    return true
  })
}
