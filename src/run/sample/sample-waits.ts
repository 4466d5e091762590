import type { TaskScope } from '../../task/enqueue.ts'
import type { PlannedRun } from '../dispatch/planned-sample.ts'
import type { SampleSlots } from '../dispatch/sample-slots.ts'
import type { SandboxWaits } from '../dispatch/sandbox-waits.ts'
import type { SampleLife } from './sample-life.ts'

/** What a sample gives up while it waits: for a sandbox, or for another sample. */
export class SampleWaits {
  readonly #waits: SandboxWaits
  readonly #slots: () => SampleSlots

  constructor(waits: SandboxWaits, slots: () => SampleSlots) {
    this.#waits = waits
    this.#slots = slots
  }

  /** The run waits for a sandbox slot until what is returned is called. */
  blocked(run: PlannedRun): () => void {
    const unblock = this.#waits.block(run)
    const takeBack = this.#slots().block()
    return () => {
      unblock()
      takeBack()
    }
  }

  /** What awaits a sample inside a sample: its slot is free and its working time stands still for so long. */
  whileWaiting({ run, clock }: SampleLife): TaskScope['whileWaiting'] {
    return (wait, forWhat) => {
      const { state } = run.control
      if (state !== 'working' && state !== 'scoring') return wait()
      const named = () => this.#waits.wait(run, forWhat, wait)
      return clock.whileWaiting(() => this.#slots().whileWaiting(run, named))
    }
  }
}
