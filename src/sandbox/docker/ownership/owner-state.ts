import { type OwnerFacts, ownFacts, processStat } from '../identity/owner.ts'
import type { OwnerState } from './verdict.ts'

/** What can be found out about processes here. */
export interface ProcessTable {
  /** Whether there is such a process, whoever's it is. */
  exists(pid: number): boolean
  stat(pid: number): { readonly state: string; readonly start: string } | undefined
}

export const processTable: ProcessTable = {
  exists: (pid) => {
    try {
      process.kill(pid, 0)
      return true
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'ESRCH'
    }
  },
  stat: processStat,
}

/** Whether an owner lives, where that can be seen from here: a pid says nothing in another namespace or after another boot. */
export function ownerState(
  owner: OwnerFacts | undefined,
  processes: ProcessTable = processTable,
  self: OwnerFacts = ownFacts(),
): OwnerState {
  if (!owner?.boot || !owner.pidNamespace) return 'unknown'
  const here =
    owner.boot === self.boot && owner.pidNamespace === self.pidNamespace && owner.host === self.host
  if (!here) return 'unknown'
  if (!processes.exists(owner.pid)) return 'dead'
  const stat = processes.stat(owner.pid)
  if (!stat) return 'alive'
  const ended = stat.state === 'Z' || stat.state === 'X'
  return ended || stat.start !== owner.start ? 'dead' : 'alive'
}
