import type { LostReason } from '../../guest/connection.ts'
import type { Finding } from '../container/post-mortem.ts'

export interface ExitFacts {
  readonly lost: LostReason
  readonly oom: boolean
  readonly exitCode: number | undefined
  /** It was removed at once, and not by itself. */
  readonly removed: boolean
}

/** Exit statuses of the guest's own (guest/PROTOCOL.md). */
const BAD_FRAME = 65
const KILLED = 137

/** Why a container is dead whose main process was the guest. */
export function exitCause({ lost, oom, exitCode, removed }: ExitFacts): Finding {
  if (lost === 'tampered' || exitCode === BAD_FRAME) {
    return { reason: 'tampered', message: 'something in it wrote to the stream of its guest' }
  }
  const code = exitCode === undefined ? 'exit code unknown' : `exit code ${exitCode}`
  if (exitCode === KILLED && oom) {
    return { reason: 'oom', message: `its container ran out of memory (${code})` }
  }
  if (exitCode === KILLED && removed) {
    return { reason: 'removed', message: `its container was removed from outside (${code})` }
  }
  if (exitCode === KILLED) {
    return { reason: 'killed', message: `its container was killed or removed from outside (${code})` }
  }
  if (exitCode === 0) {
    return { reason: 'daemon', message: 'the connection to it broke, and it ended with that, as it must' }
  }
  return { reason: exitCode === undefined ? 'removed' : 'exited', message: `its container is gone (${code})` }
}
