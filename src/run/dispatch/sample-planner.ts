import { ConfigError } from '../../errors.ts'
import { parseSample, type Sample } from '../../sample/sample.ts'
import type { EnqueuedSample } from '../../task/enqueue.ts'
import type { ConfigGates } from '../config/config-gate.ts'
import type { ResolvedTask } from '../resolved-task.ts'
import { hostReferences } from '../sample/sample-files.ts'
import { Completion } from './completion.ts'
import type { PlannedSample } from './planned-sample.ts'

/** What became of samples that were added together. */
export interface Addition {
  readonly planned: readonly PlannedSample[]
  /** One for each sample that was added, also for those that are not run. */
  readonly handles: readonly { readonly id: EnqueuedSample['id']; readonly completion: Completion }[]
  /** How many the limit had no room for. */
  readonly overLimit: number
}

/** Turns samples into planned ones: checked, numbered, selected, each with the gate of its configuration. */
export class SamplePlanner {
  readonly #task: ResolvedTask
  readonly #gates: ConfigGates
  #count = 0

  constructor(task: ResolvedTask, gates: ConfigGates) {
    this.#task = task
    this.#gates = gates
  }

  /** Takes the seed out of the task, which then no longer keeps it in memory. */
  seed(): PlannedSample[] {
    return this.#task.seed.splice(0).map(({ id, sample, added }) => ({
      id,
      index: this.#count++,
      sample,
      added,
      gate: this.#gates.gateOf(sample),
    }))
  }

  /** All of the samples or none. The caller's objects stay as they are. @throws ConfigError, DuplicateSampleError */
  added(samples: readonly Sample[], origin: string): Addition {
    const checked = samples.map((sample, index) =>
      this.#checked(sample, samples.length === 1 ? origin : `${origin} (sample ${index + 1})`),
    )
    const ids = this.#task.ids.takeAdded(checked, origin)
    const planned: PlannedSample[] = []
    let overLimit = 0
    const handles = checked.map((sample, index) => {
      const id = ids[index] ?? String(index)
      const completion = new Completion(id, this.#task.epochs)
      const refusal = this.#task.selection.refusal(id)
      if (refusal === 'over-limit') overLimit++
      if (refusal) completion.fail(refusal)
      else
        planned.push({
          id,
          index: this.#count++,
          sample,
          added: samples[index] ?? sample,
          gate: this.#gates.gateOf(sample),
          completion,
        })
      return { id, completion }
    })
    return { planned, handles, overLimit }
  }

  #checked(value: Sample, origin: string): Sample {
    const sample = parseSample(value, origin)
    const allowed = this.#task.task.definition.allow ?? []
    const refused = hostReferences(sample).find(({ kind }) => !allowed.includes(`added-${kind}s`))
    if (!refused) return sample
    throw new ConfigError(
      `file '${refused.field}' of an added sample names a ${refused.kind}, which is refused since an agent may have had a hand in it; give its content inline, or let the task allow: ['added-${refused.kind}s']`,
      { where: origin },
    )
  }
}
