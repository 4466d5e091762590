import { FieldWriter } from './fields.ts'
import { FRAME_MAX, Tag } from './protocol.ts'

/** SIGKILL follows this long after the SIGTERM that a passed deadline sends. */
export const TIMEOUT_GRACE_MS = 500

export interface RunRequest {
  readonly command: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly user?: string
  readonly timeoutMs?: number
  readonly strict?: boolean
  readonly stdin: boolean
  /** Caps of buffered output; without them output is streamed. */
  readonly maxOutputBytes?: number
  readonly credit?: number
  readonly pty?: { readonly columns: number; readonly rows: number }
}

/** The payload of RUN; undefined where the arguments are longer than any system takes. */
export function runFields(request: RunRequest): Buffer | undefined {
  const payload = new FieldWriter()
    .addAll(Tag.argument, request.command)
    .add(Tag.cwd, request.cwd)
    .add(Tag.user, request.user)
    .addAll(
      Tag.env,
      Object.entries(request.env ?? {}).map(([name, value]) => `${name}=${value}`),
    )
    .add(Tag.deadlineMs, request.timeoutMs && Math.max(1, Math.ceil(request.timeoutMs)))
    .add(Tag.graceMs, TIMEOUT_GRACE_MS)
    .add(Tag.strict, request.strict)
    .add(Tag.stdin, request.stdin)
    .add(Tag.stream, request.maxOutputBytes === undefined)
    .add(Tag.stdoutCap, request.maxOutputBytes)
    .add(Tag.stderrCap, request.maxOutputBytes)
    .add(Tag.credit, request.credit)
    .add(Tag.columns, request.pty?.columns)
    .add(Tag.rows, request.pty?.rows)
    .finish()
  return payload.length > FRAME_MAX - 64 ? undefined : payload
}

/** @throws TypeError as Node does for a wrong argument */
export function checkCommand(command: readonly string[], timeoutMs: number | undefined): void {
  if (command.length === 0) throw new TypeError('expected a command of at least one word, got none')
  if (timeoutMs !== undefined && !(timeoutMs > 0))
    throw new TypeError(`expected timeoutMs above 0, got ${timeoutMs}`)
}
