import { ExecAbortedError, ExecTimeoutError, type PartialOutput, UnsupportedError } from '../../errors.ts'
import { DEFAULT_MAX_OUTPUT_BYTES, type ExecOptions, type ExecResult } from '../sandbox.ts'
import { killCommand } from './commands.ts'
import type { Exchange, GuestConnection } from './connection.ts'
import { type GuestExit, isUserSwitchRefused, mayBeTheEnd, readExit } from './exit.ts'
import { fieldNumber } from './fields.ts'
import { InputSender, toBytes } from './flow.ts'
import type { Frame } from './frame.ts'
import { onAbort } from './on-abort.ts'
import { Channel, FrameType } from './protocol.ts'
import { checkCommand, runFields } from './run-fields.ts'

export interface GuestExecOptions extends ExecOptions {
  /** Drops all capabilities and the right to gain any. */
  readonly strict?: boolean
}

interface Collected {
  readonly stdout: Buffer[]
  readonly stderr: Buffer[]
}

/** Runs a command and buffers its output; the guest keeps the tail and enforces the deadline. */
export async function execOnGuest(
  connection: GuestConnection,
  command: readonly string[],
  options: GuestExecOptions = {},
): Promise<ExecResult> {
  const { signal, input, timeoutMs, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options
  checkCommand(command, timeoutMs)
  const hasInput = input !== undefined && input.length > 0
  if (signal?.aborted) throw aborted(command, signal, EMPTY)
  const payload = runFields({ ...options, command, stdin: hasInput, maxOutputBytes })
  if (!payload) return tooLong(command)
  const collected: Collected = { stdout: [], stderr: [] }
  const exitPayload = await runToExit({
    connection,
    payload,
    collected,
    signal,
    input: hasInput ? toBytes(input) : undefined,
  })
  if (isUserSwitchRefused(exitPayload))
    throw new UnsupportedError(`the guest may not switch to user '${options.user ?? ''}' in this sandbox`)
  const exit = readExit(exitPayload, command)
  if (mayBeTheEnd(exit)) await connection.ping()
  const result = toResult(exit, collected, { raw: options.raw })
  if (exit.timedOut && timeoutMs)
    throw new ExecTimeoutError(`'${command[0]}' was stopped after ${timeoutMs} ms`, {
      timeoutMs,
      partial: result,
    })
  if (signal?.aborted) throw aborted(command, signal, result)
  return result
}

interface RunToExit {
  readonly connection: GuestConnection
  readonly payload: Buffer
  readonly collected: Collected
  readonly input: Buffer | undefined
  readonly signal: AbortSignal | undefined
}

async function runToExit(run: RunToExit): Promise<Buffer> {
  const { connection, collected, signal } = run
  let sender: InputSender | undefined
  let aborting: Disposable | undefined
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      const exchange = connection.open(FrameType.run, run.payload, {
        frame: (frame) => {
          if (frame.type === FrameType.data) collect(collected, frame)
          else if (frame.type === FrameType.credit) sender?.grant(fieldNumber(frame.payload.subarray(1)))
          else if (frame.type === FrameType.exit) {
            exchange.end()
            resolve(frame.payload)
          }
        },
        lost: reject,
      })
      aborting = onAbort(signal, () => killTree(connection, exchange))
      if (run.input) {
        sender = new InputSender(connection.welcome.window, exchange.send)
        void sender.write(run.input)
        void sender.end()
      }
    })
  } finally {
    aborting?.[Symbol.dispose]()
    sender?.stop()
  }
}

function killTree(connection: GuestConnection, exchange: Exchange): void {
  killCommand(connection, { id: exchange.id, name: '' }).catch(() => undefined) // a failure ends the run as well
}

function collect(collected: Collected, frame: Frame): void {
  const stream = frame.payload[0] === Channel.stdout ? collected.stdout : collected.stderr
  stream.push(frame.payload.subarray(1))
}

/** The tail of a cut stream can start inside a character; its rest is dropped, and not shown as damage. */
function decode(bytes: Buffer, cut: boolean): string {
  let start = 0
  while (cut && start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(start))
}

function toResult(exit: GuestExit, collected: Collected, options: { raw?: boolean }): ExecResult {
  const stdout = Buffer.concat(collected.stdout)
  const stderr = Buffer.concat(collected.stderr)
  const { stdoutBytes, stderrBytes } = exit
  return {
    exitCode: exit.exitCode,
    signal: exit.signal,
    stdout: decode(stdout, stdoutBytes > stdout.length),
    stderr: decode(stderr, stderrBytes > stderr.length),
    stdoutBytes,
    stderrBytes,
    truncated: stdoutBytes > stdout.length || stderrBytes > stderr.length,
    durationMs: exit.durationMs,
    ...(exit.launchError && { launchError: exit.launchError }),
    ...(options.raw && { raw: { stdout, stderr } }),
    usage: { cpuMs: exit.cpuMs, peakMemoryBytes: exit.peakMemoryBytes },
    background: exit.background,
  }
}

const EMPTY: PartialOutput = { stdout: '', stderr: '', stdoutBytes: 0, stderrBytes: 0, truncated: false }

function aborted(command: readonly string[], signal: AbortSignal, partial: PartialOutput): ExecAbortedError {
  return new ExecAbortedError(`'${command[0]}' was aborted`, { partial, cause: signal.reason })
}

function tooLong(command: readonly string[]): ExecResult {
  const message = `'${command[0]}': arguments and environment are too long`
  const launchError = { kind: 'arguments-too-long', message } as const
  return { ...EMPTY, exitCode: null, signal: null, durationMs: 0, launchError }
}
