import { ResumeConfigError } from '../../log/prior/resume-errors.ts'
import type { ErrorRecord, SampleRecord } from '../../log/records/records.ts'
import type { Sample } from '../../sample/sample.ts'
import type { SampleId } from '../../sample/sample-id.ts'
import type { SampleSource } from '../../task/sample-source.ts'
import type { ConfigGates, GateOutcome } from '../config/config-gate.ts'
import type { GateUses } from '../config/gate-uses.ts'
import { PlannedRun, type PlannedSample, type RunOutcome } from '../dispatch/planned-sample.ts'
import type { PriorRun, ReusedRun } from '../dispatch/replay.ts'
import type { EvalJournal } from '../eval-journal.ts'
import type { Outcomes } from '../outcomes.ts'
import { isRecordOf, type Reuse } from './reuse.ts'

export interface EvalReuseOptions {
  readonly reuse: Reuse
  /** The first so many samples are the seed. */
  readonly seedSize: number
  readonly gates: ConfigGates
  readonly outcomes: Outcomes
  readonly log: EvalJournal
  readonly add: (samples: readonly Sample[]) => void
  /** Tells whoever follows the outcomes of an eval. */
  readonly logged: (record: SampleRecord) => Promise<void>
  readonly uses: GateUses
  /** Ends the eval. */
  readonly fail: (kind: ErrorRecord['kind'], error: unknown) => void
}

const IDS_SHOWN = 5

/** Lets one eval go on from an earlier log while it runs. */
export class EvalReuse {
  readonly #options: EvalReuseOptions

  constructor(options: EvalReuseOptions) {
    this.#options = options
  }

  /** Before the seed is added. */
  restore(source: SampleSource | undefined): void {
    const { hasState, prior } = this.#options.reuse
    if (hasState) source?.restoreState?.(prior.state?.state)
  }

  /** After the seed was added. */
  addAgain(): void {
    const { reuse, add } = this.#options
    if (reuse.addedBySource.length > 0) add(reuse.addedBySource)
  }

  planOf(id: SampleId, epoch: number): PriorRun | undefined {
    return this.#options.reuse.planOf(id, epoch)
  }

  isWhole(id: SampleId, epochs: number): boolean {
    return this.#options.reuse.isWhole(id, epochs)
  }

  /** Takes over how a run ended; a run instead is to be run after all. What it throws has ended the eval. */
  async takeOver(reused: ReusedRun): Promise<RunOutcome | PlannedRun> {
    const { uses, fail } = this.#options
    try {
      uses.ended(reused.run.planned.gate)
      return await this.#settle(reused)
    } catch (error) {
      fail(error instanceof ResumeConfigError ? 'config' : 'internal', error)
      throw error
    }
  }

  async #settle({ run, load }: ReusedRun): Promise<RunOutcome | PlannedRun> {
    const { reuse, outcomes, log, add, logged } = this.#options
    const record = await load()
    const { planned } = run
    if (!(await this.#isSame(planned, record))) return this.#insteadOf(record, run)
    outcomes.reused(run, record)
    log.reused(record)
    const children = reuse.childrenOf(record)
    if (children.length > 0) add(children)
    await logged(record)
    return { kind: 'record', record, isTold: reuse.isTold(record.uuid) }
  }

  /** What is told to a source that starts anew of a run whose earlier outcome it never heard of. */
  toTell(run: PlannedRun, outcome: RunOutcome): RunOutcome {
    if (outcome.kind !== 'record' || !this.isNews(run)) return outcome
    return { ...outcome, record: { ...outcome.record, supersedes: undefined } }
  }

  /** Whether the source never heard of the earlier outcome that a run takes the place of. */
  isNews({ superseded }: PlannedRun): boolean {
    const { reuse } = this.#options
    return superseded !== undefined && reuse.isClaimed(superseded.uuid) && !reuse.isTold(superseded.uuid)
  }

  /** A configuration that is another one than that of the samples that are in the log already. */
  changedImages(outcome: GateOutcome): ResumeConfigError | undefined {
    if (outcome.state !== 'ready') return undefined
    const { prior } = this.#options.reuse
    const { config, facts } = outcome.initialised
    const before = prior.configs.get(config.key)
    const changes = Object.entries(before?.images ?? {}).flatMap(([service, image]) => {
      const now = facts.images[service]
      return now === undefined || now === image
        ? []
        : [`image of service '${service}' (${config.description}): was ${image}, is ${now}`]
    })
    return changes.length > 0 ? new ResumeConfigError({ log: prior.path, changes }) : undefined
  }

  /** Once all has ended: records of samples that were not made again are marked. */
  markOutside(): void {
    const { reuse, log } = this.#options
    const { unclaimed } = reuse
    if (unclaimed.length === 0) return
    const at = new Date().toISOString()
    for (const { uuid, id, epoch } of unclaimed) log.keep({ type: 'sample-outside', at, uuid, id, epoch })
    const ids = [...new Set(unclaimed.map(({ id }) => `'${id}'`))]
    const more = ids.length > IDS_SHOWN ? ` and ${ids.length - IDS_SHOWN} more` : ''
    log.note(
      'warning',
      `samples of the resumed log are no part of this eval and count in no figure: ${ids.slice(0, IDS_SHOWN).join(', ')}${more}`,
    )
  }

  /** The seed was compared as a whole, where both logs say what theirs was. */
  async #isSame({ index, sample, id }: PlannedSample, record: SampleRecord): Promise<boolean> {
    const { reuse, gates, seedSize } = this.#options
    const isSeed = index < seedSize
    if (!(isSeed && reuse.prior.header?.identity) && !isRecordOf(record, sample)) return false
    const key = isSeed || !record.sandbox ? undefined : await gates.keyOf(sample)
    if (key === undefined || key === record.sandbox?.key) return true
    throw new ResumeConfigError({
      log: reuse.prior.path,
      changes: [sandboxChange(id, record.sandbox?.key, key)],
    })
  }

  #insteadOf(record: SampleRecord, { planned, epoch }: PlannedRun): PlannedRun {
    const { reuse, gates, log } = this.#options
    log.note('warning', `sample '${planned.id}' is another one than in the resumed log, and is run`)
    reuse.disown(record)
    return PlannedRun.insteadOf({ ...planned, gate: gates.gateOf(planned.sample) }, epoch, {
      ...record,
      messages: [],
      output: '',
    })
  }
}

export function sandboxChange(id: string | number, before: string | undefined, now: string): string {
  return `sandbox of sample '${id}': was ${before}, is ${now}`
}
