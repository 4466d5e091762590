import { SandboxUnavailableError } from '../../errors.ts'
import type { LaunchErrorKind } from '../sandbox.ts'
import { FieldReader } from './fields.ts'
import { ERROR_KINDS, type GuestErrorKind, Tag } from './protocol.ts'

/** How a command ended, as the guest tells it. */
export interface GuestExit {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly pid: number | undefined
  readonly durationMs: number
  readonly cpuMs: number
  readonly peakMemoryBytes: number
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly timedOut: boolean
  /** Children of the command live on. */
  readonly background: boolean
  /** Memory kills in the sandbox while the command ran, where it was killed. */
  readonly oomKills: number
  readonly launchError?: { readonly kind: LaunchErrorKind; readonly message: string }
}

/**
 * The end of a container kills all in it at once: a command may be reported as killed with the last breath of a guest
 * that is killed with it. That is no result of the command's.
 */
export function mayBeTheEnd({ signal, timedOut }: Pick<GuestExit, 'signal' | 'timedOut'>): boolean {
  return signal === 'SIGKILL' && !timedOut
}

/** Linux numbers, whatever this host is. */
const SIGNALS =
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'.split(
    ' ',
  )

export function signalName(number: number): string {
  const name = SIGNALS[number - 1]
  return name ? `SIG${name}` : `SIG${number}`
}

/** @throws SandboxUnavailableError where processes of the command could not be killed */
export function readExit(payload: Buffer, command: readonly string[]): GuestExit {
  const fields = new FieldReader(payload)
  const unkillable = fields.number(Tag.unkillable)
  if (unkillable)
    throw new SandboxUnavailableError(`${unkillable} processes of '${command[0]}' cannot be killed`, {
      reason: 'unknown',
    })
  const signal = fields.number(Tag.exitSignal)
  const error = fields.number(Tag.error)
  return {
    exitCode: fields.number(Tag.exitCode) ?? null,
    signal: signal === undefined ? null : signalName(signal),
    pid: fields.number(Tag.pid) || undefined,
    durationMs: (fields.number(Tag.durationUs) ?? 0) / 1000,
    cpuMs: (fields.number(Tag.cpuUs) ?? 0) / 1000,
    peakMemoryBytes: (fields.number(Tag.peakMemoryKb) ?? 0) * 1024,
    stdoutBytes: fields.number(Tag.stdoutBytes) ?? 0,
    stderrBytes: fields.number(Tag.stderrBytes) ?? 0,
    timedOut: fields.has(Tag.timedOut),
    background: fields.has(Tag.background),
    oomKills: fields.number(Tag.oomKills) ?? 0,
    ...(error !== undefined && {
      launchError: launchError(ERROR_KINDS[error] ?? 'other', fields.number(Tag.errno) ?? 0, command),
    }),
  }
}

const LAUNCH_ERRORS: Partial<Record<GuestErrorKind, { kind: LaunchErrorKind; text: string }>> = {
  'not-found': { kind: 'not-found', text: 'no such command' },
  'not-executable': { kind: 'not-executable', text: 'cannot be executed' },
  'no-such-user': { kind: 'no-such-user', text: 'no such user or group' },
  'no-such-cwd': { kind: 'no-such-cwd', text: 'the working directory cannot be entered' },
  'arguments-too-long': {
    kind: 'arguments-too-long',
    text: 'arguments and environment are too long (one may have 128 KiB, all together about 2 MiB)',
  },
  resource: { kind: 'resources', text: 'the sandbox is out of processes, memory or descriptors' },
  invalid: { kind: 'other', text: 'an argument or variable holds a NUL character, or there is no argument' },
}

function launchError(kind: GuestErrorKind, errno: number, command: readonly string[]) {
  const known = LAUNCH_ERRORS[kind]
  return {
    kind: known?.kind ?? 'other',
    message: `'${command[0] ?? ''}': ${known?.text ?? kind}${errno ? ` (errno ${errno})` : ''}`,
  } as const
}

/** The refusal to switch users is no property of the command, so it is thrown and not returned. */
export function isUserSwitchRefused(payload: Buffer): boolean {
  const error = new FieldReader(payload).number(Tag.error)
  return error !== undefined && ERROR_KINDS[error] === 'cannot-switch-user'
}
