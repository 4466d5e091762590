import type { Readable } from 'node:stream'
import {
  ExecAbortedError,
  ExecTimeoutError,
  type PartialOutput,
  SandboxUnavailableError,
} from '../../../errors.ts'
import { DEFAULT_MAX_OUTPUT_BYTES, type ExecOptions, type ExecResult } from '../../sandbox.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { Command, type Ending } from './command.ts'
import type { Commands } from './commands.ts'
import { argumentsTooLong } from './launch.ts'
import { TailBuffer } from './tail-buffer.ts'

interface Captured {
  readonly stdout: TailBuffer
  readonly stderr: TailBuffer
}

function partialOutput({ stdout, stderr }: Captured): PartialOutput {
  return {
    stdout: stdout.text(),
    stderr: stderr.text(),
    stdoutBytes: stdout.totalBytes,
    stderrBytes: stderr.totalBytes,
    truncated: stdout.truncated || stderr.truncated,
  }
}

function notLaunched(
  startedAt: number,
  launchError: NonNullable<ExecResult['launchError']>,
  raw: boolean,
): ExecResult {
  return {
    exitCode: null,
    signal: null,
    stdout: '',
    stderr: '',
    stdoutBytes: 0,
    stderrBytes: 0,
    truncated: false,
    durationMs: performance.now() - startedAt,
    launchError,
    ...(raw && { raw: { stdout: new Uint8Array(), stderr: new Uint8Array() } }),
  }
}

function describe(argv: readonly string[]): string {
  const text = argv.join(' ')
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text)
}

export interface RunOptions extends ExecOptions {
  readonly commands: Commands
  /** Input that is read while the command runs, in place of `input`. */
  readonly inputStream?: Readable
  /** Takes standard output as it comes, which is then not kept. */
  readonly onStdout?: (data: Buffer) => void
}

/** Runs a command to its end and buffers its output, as `Sandbox.exec` promises. */
export async function runCommand(
  container: ContainerRef,
  argv: readonly string[],
  options: RunOptions,
): Promise<ExecResult> {
  const { input, signal, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES, raw = false } = options
  checkRequest(argv, options)
  const startedAt = performance.now()
  const captured = { stdout: new TailBuffer(maxOutputBytes), stderr: new TailBuffer(maxOutputBytes) }
  if (signal?.aborted) throw aborted(argv, captured, signal.reason)
  const problem = unlaunchable(argv, options.env)
  if (problem) return notLaunched(startedAt, problem, raw)
  const command = new Command(container, argv, {
    ...options,
    stdin: input !== undefined || options.inputStream !== undefined,
    sinks: {
      stdout: options.onStdout ?? ((data) => captured.stdout.write(data)),
      stderr: (data) => captured.stderr.write(data),
    },
  })
  const ending = await options.commands.track(command, async () => {
    await command.start()
    if (input !== undefined) command.channel?.socket.end(input)
    if (options.inputStream) feed(options.inputStream, command)
    return command.end()
  })
  return settle(ending, { argv, captured, startedAt, raw, timeoutMs: options.timeoutMs ?? 0 })
}

/** A source that fails stops the command, or it would take what came so far for the whole. */
function feed(source: Readable, command: Command): void {
  const socket = command.channel?.socket
  if (!socket) return
  source.on('error', (error) => command.stop(error))
  socket.once('close', () => source.destroy())
  source.pipe(socket)
}

function checkRequest(argv: readonly string[], { timeoutMs }: ExecOptions): void {
  if (argv.length === 0 || argv[0] === '') throw new TypeError('exec: expected a command, got none')
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    throw new TypeError(`exec: expected timeoutMs > 0 or none at all, got ${timeoutMs}`)
  }
}

/** What the kernel would not take, found before the Engine is asked. */
function unlaunchable(
  argv: readonly string[],
  env: ExecOptions['env'],
): ExecResult['launchError'] | undefined {
  const strings = [...argv, ...Object.entries(env ?? {}).flat()]
  if (strings.some((text) => text.includes('\0'))) {
    return { kind: 'other', message: 'arguments and variables cannot hold a NUL character' }
  }
  if (!argumentsTooLong(argv, env)) return undefined
  const message = 'one of the arguments or variables, or all of them, are longer than the kernel allows'
  return { kind: 'arguments-too-long', message }
}

function aborted(argv: readonly string[], captured: Captured, cause: unknown): ExecAbortedError {
  return new ExecAbortedError(`${describe(argv)} was aborted`, { partial: partialOutput(captured), cause })
}

interface Run {
  readonly argv: readonly string[]
  readonly captured: Captured
  readonly startedAt: number
  readonly raw: boolean
  readonly timeoutMs: number
}

function settle(ending: Ending, run: Run): ExecResult {
  const { argv, captured, startedAt, raw, timeoutMs } = run
  if (ending.how === 'timeout') {
    const partial = partialOutput(captured)
    throw new ExecTimeoutError(`${describe(argv)} ran into its deadline of ${timeoutMs} ms`, {
      timeoutMs,
      partial,
    })
  }
  if (ending.how === 'stopped') {
    if (ending.reason instanceof SandboxUnavailableError) throw ending.reason
    throw aborted(argv, captured, ending.reason)
  }
  if (ending.how === 'not-launched') {
    return notLaunched(startedAt, { kind: ending.kind, message: ending.message }, raw)
  }
  return {
    exitCode: ending.exitCode,
    signal: null,
    ...partialOutput(captured),
    durationMs: performance.now() - startedAt,
    ...(raw && { raw: { stdout: captured.stdout.bytes(), stderr: captured.stderr.bytes() } }),
  }
}
