import { ConfigError } from '../../errors.ts'
import { parseSample, type Sample } from '../../sample/sample.ts'
import type { SampleId } from '../../sample/sample-id.ts'
import { type ConfigGates, type Gate, OPEN } from '../config/config-gate.ts'
import type { ResolvedTask } from '../resolved-task.ts'
import { hostReferences } from '../sample/sample-files.ts'
import { Completion } from './completion.ts'
import type { PlannedSample } from './planned-sample.ts'

/** What became of samples that were added together. */
export interface Addition {
  readonly planned: readonly PlannedSample[]
  /** One for each sample that was added, also for those that are not run; none where nobody can wait for them. */
  readonly handles: readonly { readonly id: SampleId; readonly completion: Completion }[]
  /** How many the limit had no room for. */
  readonly overLimit: number
}

export interface AdditionOptions {
  /** Where the samples come from, for errors. */
  readonly origin: string
  /** Whether whoever added them may wait for what becomes of them. */
  readonly hasHandles: boolean
}

/** Turns samples into planned ones: checked, numbered, selected, each with the gate of its configuration. */
export class SamplePlanner {
  readonly #task: ResolvedTask
  readonly #gates: ConfigGates
  readonly #isRun: (id: SampleId) => boolean
  #count = 0

  /** `isRun`: whether any epoch of a sample is to be run; else its configuration is not needed. */
  constructor(task: ResolvedTask, gates: ConfigGates, isRun: (id: SampleId) => boolean = () => true) {
    this.#task = task
    this.#gates = gates
    this.#isRun = isRun
  }

  /** Takes the seed out of the task, which then no longer keeps it in memory. */
  seed(): PlannedSample[] {
    const seed = this.#task.seed.splice(0)
    return seed.map(({ id, sample, added }) => ({ ...this.#planned(id, sample), added }))
  }

  /** All of the samples or none. The caller's objects stay as they are. @throws ConfigError, DuplicateSampleError */
  added(samples: readonly Sample[], { origin, hasHandles }: AdditionOptions): Addition {
    const checked = samples.map((sample, index) =>
      this.#checked(sample, samples.length === 1 ? origin : `${origin} (sample ${index + 1})`),
    )
    const ids = this.#task.ids.takeAdded(checked, origin)
    const planned: PlannedSample[] = []
    const handles: { id: SampleId; completion: Completion }[] = []
    let overLimit = 0
    for (const [index, sample] of checked.entries()) {
      const id = ids[index] ?? String(index)
      const completion = hasHandles ? new Completion(id, this.#task.epochs) : undefined
      const refusal = this.#task.selection.refusal(id)
      if (refusal === 'over-limit') overLimit++
      if (refusal) completion?.fail(refusal)
      else planned.push({ ...this.#planned(id, sample), added: samples[index] ?? sample, completion })
      if (completion) handles.push({ id, completion })
    }
    return { planned, handles, overLimit }
  }

  #planned(id: SampleId, sample: Sample): Omit<PlannedSample, 'added'> {
    return { id, index: this.#count++, sample, gate: this.#gateOf(id, sample) }
  }

  #gateOf(id: SampleId, sample: Sample): Gate {
    return this.#isRun(id) ? this.#gates.gateOf(sample) : OPEN
  }

  #checked(value: Sample, origin: string): Sample {
    const sample = parseSample(value, origin)
    const allowed = this.#task.task.definition.allow ?? []
    const refused = hostReferences(sample).find(({ kind }) => !allowed.includes(`added-${kind}s`))
    if (!refused) return sample
    const { what, kind, isMedia } = refused
    const inline = isMedia ? 'pass it through await materializeMedia(...)' : 'give its content inline'
    throw new ConfigError(
      `${what} of an added sample names a ${kind}, which is refused since an agent may have had a hand in it; ${inline}, or let the task allow: ['added-${kind}s']`,
      { where: origin },
    )
  }
}
