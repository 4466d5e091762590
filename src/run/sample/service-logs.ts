import type { ManagedSandbox } from '../../sandbox/managed-sandbox.ts'
import type { ServiceLog } from '../../sandbox/provider.ts'
import type { PlannedRun } from '../dispatch/planned-sample.ts'
import type { SampleLife } from './sample-life.ts'

/** Of which samples the logs of their sandbox's services are kept. */
export type ServiceLogs = 'none' | 'failed' | 'all'

interface Options {
  readonly serviceLogs: ServiceLogs | undefined
  readonly keepServiceLogs: (run: PlannedRun, logs: readonly ServiceLog[]) => Promise<void>
}

export interface LogOwner {
  readonly run: PlannedRun
  /** Left out: the agent's sandbox. */
  readonly part: 'verifier' | undefined
}

/** The services of a verifier are told apart from those of the agent's sandbox. */
function named(logs: readonly ServiceLog[], { part }: LogOwner): readonly ServiceLog[] {
  return part ? logs.map((log) => ({ ...log, service: `${part}-${log.service}` })) : logs
}

/** Which service logs are kept, and when: they go with their containers. */
export class SampleServiceLogs {
  readonly #which: ServiceLogs
  readonly #keep: Options['keepServiceLogs']

  constructor({ serviceLogs = 'failed', keepServiceLogs }: Options) {
    this.#which = serviceLogs
    this.#keep = keepServiceLogs
  }

  isKept(life: SampleLife): boolean {
    return this.#which === 'all' || (this.#which === 'failed' && life.error !== undefined)
  }

  async keepOf(sandbox: ManagedSandbox, owner: LogOwner): Promise<void> {
    await this.#keep(owner.run, named(await sandbox.serviceLogs(), owner))
  }

  ofFailedStart(owner: LogOwner): ((logs: readonly ServiceLog[]) => Promise<void>) | undefined {
    return this.#which === 'none' ? undefined : (logs) => this.#keep(owner.run, named(logs, owner))
  }
}
