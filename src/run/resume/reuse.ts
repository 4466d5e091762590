import { type PriorLog, type PriorSample, sampleKey } from '../../log/prior/prior-log.ts'
import type { SampleRecord } from '../../log/records/records.ts'
import type { Sample } from '../../sample/sample.ts'
import type { SampleId } from '../../sample/sample-id.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { globPattern } from '../../util/glob.ts'
import type { PriorRun } from '../dispatch/replay.ts'
import { isInfrastructure } from '../error-policy.ts'
import type { EvaluateOptions } from '../options.ts'

const LEFT = 'it is not among those that were chosen to be run again'

/** What each sample and epoch of an eval takes over from the log that it resumes. */
export class Reuse {
  readonly prior: PriorLog
  /** Whether the source goes on from the state that it saved. */
  readonly hasState: boolean
  readonly #only: readonly RegExp[] | 'infra' | undefined
  readonly #claimed = new Set<string>()
  /** By uuid of the attempt whose code added them. */
  readonly #children = new Map<string, Sample[]>()

  constructor(
    prior: PriorLog,
    options: { readonly hasState: boolean; readonly only: EvaluateOptions['only'] },
  ) {
    const { hasState, only } = options
    this.prior = prior
    this.hasState = hasState
    this.#only = typeof only === 'string' ? only : only?.map(globPattern)
    for (const { by, samples } of prior.added) {
      if (by === undefined) continue
      const children = this.#children.get(by) ?? []
      this.#children.set(by, children)
      children.push(...samples.map(({ id, sample }) => ({ ...sample, id })))
    }
  }

  /** undefined: it is run as if there were no earlier log. */
  planOf(id: SampleId, epoch: number): PriorRun | undefined {
    const prior = this.#sampleOf(id, epoch)
    if (prior) this.#claimed.add(prior.uuid)
    if (prior && !prior.failure)
      return { kind: 'reused', order: prior.order, load: () => this.prior.load(prior) }
    if (!this.#isChosen(id, prior?.failure)) return { kind: 'left', why: LEFT, superseded: prior?.failure }
    return prior?.failure && { kind: 'again', superseded: prior.failure }
  }

  /** Whether no epoch of a sample is run. */
  isWhole(id: SampleId, epochs: number): boolean {
    for (let epoch = 1; epoch <= epochs; epoch++) {
      const prior = this.#sampleOf(id, epoch)
      const isRun = !prior || prior.failure ? this.#isChosen(id, prior?.failure) : false
      if (isRun) return false
    }
    return true
  }

  /** Samples that the code of the record's attempts added, which nobody adds again. */
  childrenOf({ uuid, earlier = [] }: SampleRecord): Sample[] {
    return [...earlier, { uuid }].flatMap((attempt) => {
      const children = this.#children.get(attempt.uuid) ?? []
      this.#children.delete(attempt.uuid)
      return children
    })
  }

  /** Samples that a source which keeps its state has added and does not add again. */
  get addedBySource(): Sample[] {
    if (!this.hasState) return []
    const records = this.prior.added.filter(({ by }) => by === undefined)
    return records.flatMap(({ samples }) => samples.map(({ id, sample }) => ({ ...sample, id })))
  }

  isTold(uuid: string): boolean {
    return this.hasState && this.prior.state?.told.has(uuid) === true
  }

  isClaimed(uuid: string): boolean {
    return this.#claimed.has(uuid)
  }

  /** A record of a sample that is another one now is not claimed. */
  disown({ uuid }: SampleRecord): void {
    this.#claimed.delete(uuid)
  }

  get unclaimed(): PriorSample[] {
    return [...this.prior.samples.values()].filter(({ uuid }) => !this.#claimed.has(uuid))
  }

  #sampleOf(id: SampleId, epoch: number): PriorSample | undefined {
    return this.prior.samples.get(sampleKey({ id, epoch }))
  }

  #isChosen(id: SampleId, failure: SampleRecord | undefined): boolean {
    const only = this.#only
    if (only === undefined) return true
    if (only === 'infra') return failure?.error !== undefined && isInfrastructure(failure.error)
    return only.some((pattern) => pattern.test(String(id)))
  }
}

/** Whether a record is of this sample, as far as a record says what its sample was. */
export function isRecordOf(record: SampleRecord, sample: Sample): boolean {
  const { input, target, choices, metadata = {}, setup, files } = sample
  const names = files && Object.keys(files)
  return (
    canonicalJson([
      record.input,
      record.target,
      record.choices,
      record.metadata,
      record.setup,
      record.files,
    ]) === canonicalJson([input, target, choices, metadata, setup, names])
  )
}
