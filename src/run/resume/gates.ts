import { ResumeConfigError, ResumeIdentityError, ResumeVersionError } from '../../log/prior/resume-errors.ts'
import type { HeaderRecord } from '../../log/records/records.ts'
import { allowedChanges, forbiddenChanges } from './changes.ts'
import { versionVerdict } from './version-gate.ts'

/** What the gates look at. */
export interface GateFacts {
  readonly log: string
  /** undefined: it cannot be read, for this reason. */
  readonly recorded: HeaderRecord | undefined
  readonly problem?: string | undefined
  readonly current: HeaderRecord
  /** Former ids of the task. */
  readonly aliases: readonly string[]
}

export interface GatesPassed {
  readonly recorded: HeaderRecord
  readonly warnings: readonly string[]
  /** What may change and did. */
  readonly changed: readonly string[]
}

/**
 * The gates that a log passes to be resumed, in order: header, version, identity, configuration. Each compares only what both sides have.
 * @throws ResumeVersionError, ResumeIdentityError, ResumeConfigError
 */
export function passGates({ log, recorded, problem, current, aliases }: GateFacts): GatesPassed {
  if (!recorded)
    throw new ResumeVersionError(`its header cannot be read: ${problem ?? 'there is none'}`, { log })
  if (recorded.belljar === '') throw new ResumeVersionError('it was not written by belljar', { log })
  const version = versionVerdict(recorded.belljar, current.belljar)
  if (!version.isAllowed) throw new ResumeVersionError(version.why, { log, version: recorded.belljar })
  checkIdentity({ log, recorded, current, aliases })
  const changes = forbiddenChanges(recorded, current)
  if (changes.length > 0) throw new ResumeConfigError({ log, changes })
  return {
    recorded,
    warnings: version.warning === undefined ? [] : [version.warning],
    changed: allowedChanges(recorded, current),
  }
}

function checkIdentity({ log, recorded, current, aliases }: GateFacts): void {
  const [was, is] = [recorded?.identity?.id, current.identity?.id]
  if (was === undefined || is === undefined || was === is || aliases.includes(was)) return
  throw new ResumeIdentityError({ log, recorded: was, current: is })
}
