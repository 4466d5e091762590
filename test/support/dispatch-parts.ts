import type { Scheduler } from 'fast-check'
import { LimitExceededError } from '../../src/errors.ts'
import type { SampleRecord } from '../../src/log/records/records.ts'
import { ConfigGates } from '../../src/run/config/config-gate.ts'
import type { EvalControl } from '../../src/run/control/eval-control.ts'
import type { PlannedRun } from '../../src/run/dispatch/planned-sample.ts'
import { SampleLife } from '../../src/run/sample/sample-life.ts'
import { FakeProvider } from '../../src/sandbox/fake/fake-provider.ts'
import { SandboxManager } from '../../src/sandbox/sandbox-manager.ts'
import type { Act } from './dispatch-scenario.ts'
import { turn } from './drain.ts'

/** The record of an attempt that ended as planned, or as an operator wanted. */
export function attemptRecord(
  run: PlannedRun,
  { fails, isAborted }: { fails: boolean; isAborted: boolean },
): SampleRecord {
  const life = new SampleLife(run, () => undefined)
  const { action } = run.control
  if (fails || action === 'error') life.fail('agent', new Error('it failed'))
  else if (isAborted || action === 'cancel') life.cancel()
  else if (action === 'score') life.reachLimit(new LimitExceededError({ type: 'operator', limit: 0 }))
  return life.finish({})
}

/** Resolves when an operator or the end of the eval stops the run. */
export function ended(run: PlannedRun, signal: AbortSignal): Promise<void> {
  return new Promise<void>((resolve) => {
    for (const stop of [signal, run.control.signal, run.control.agentSignal]) {
      if (stop.aborted) resolve()
      stop.addEventListener('abort', () => resolve(), { once: true })
    }
  })
}

/** Gates of images: `quick` is there at once, `broken` never. */
export function modelGates(scheduler: Scheduler, signal: AbortSignal): ConfigGates {
  const provider = new FakeProvider({
    taskInit: async (image) => {
      if (image !== 'quick') await turn(scheduler, `${image} is built`)
      if (image === 'broken') throw new Error('no such image')
    },
  })
  return new ConfigGates({
    manager: new SandboxManager({ run: 'run', maxSandboxes: 1 }),
    taskDirectory: '/',
    specOf: (sample) => sample.sandbox,
    providerOf: async () => provider,
    context: { signal },
    onSettled: () => undefined,
  })
}

export interface Operated {
  readonly live: readonly PlannedRun[]
  readonly records: readonly SampleRecord[]
}

/** Does what an operator does. Returns whether a sample was put back. */
export function operate(control: EvalControl, { what, sample }: Act, { live, records }: Operated): boolean {
  const run = live[sample % Math.max(1, live.length)]
  const failed = records.filter(({ status }) => status === 'error' || status === 'cancelled')
  const record = failed[sample % Math.max(1, failed.length)]
  if (what === 'requeue') return record !== undefined && control.requeue(record.id, record.epoch).changed
  if (what === 'pause task') control.pause()
  else if (what === 'drain task') control.cancel('drain')
  else if (what === 'score task') control.cancel('score')
  else if (run && what === 'pause') control.pauseSample(run.planned.id, run.epoch)
  else if (run && what === 'resume') control.resumeSample(run.planned.id, run.epoch)
  else if (run && what !== 'pause' && what !== 'resume') control.cancelSample(run.planned.id, run.epoch, what)
  return false
}
