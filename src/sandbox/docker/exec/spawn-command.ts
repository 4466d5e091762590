import { ExecAbortedError, UnsupportedError } from '../../../errors.ts'
import type { ProcessExit, SandboxProcess, SpawnOptions } from '../../sandbox.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { call } from '../engine/call.ts'
import { ByteQueue } from './byte-queue.ts'
import { Command, type Ending } from './command.ts'
import type { Commands } from './commands.ts'
import { helperExec } from './helper-exec.ts'

class KilledByOwner {}

interface Running {
  readonly container: ContainerRef
  readonly command: Command
  readonly stdout: ByteQueue
  readonly stderr: ByteQueue
  readonly exit: Promise<ProcessExit>
  readonly pty: boolean
}

function processExit(ending: Ending, startedAt: number): ProcessExit {
  const durationMs = performance.now() - startedAt
  const unended = { exitCode: null, signal: null, durationMs, timedOut: false }
  if (ending.how === 'exited') return { ...unended, exitCode: ending.exitCode }
  if (ending.how === 'timeout') return { ...unended, signal: 'SIGKILL', timedOut: true }
  if (ending.how === 'not-launched') {
    return { ...unended, launchError: { kind: ending.kind, message: ending.message } }
  }
  if (ending.reason instanceof KilledByOwner) return { ...unended, signal: 'SIGKILL' }
  if (ending.reason instanceof Error && ending.reason.name === 'SandboxUnavailableError') throw ending.reason
  const partial = { stdout: '', stderr: '', stdoutBytes: 0, stderrBytes: 0, truncated: false }
  throw new ExecAbortedError('the command was aborted', { partial, cause: ending.reason })
}

/** A command with live output over one exec of the Engine. */
class EngineProcess implements SandboxProcess {
  readonly #running: Running

  constructor(running: Running) {
    this.#running = running
  }

  get pid(): number | undefined {
    return this.#running.command.pid
  }

  get stdout(): AsyncIterable<Uint8Array> {
    return this.#running.stdout
  }

  get stderr(): AsyncIterable<Uint8Array> {
    return this.#running.stderr
  }

  write(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = this.#running.command.channel?.socket
      if (!socket) return reject(new UnsupportedError('the command has no input'))
      socket.write(data, (error) => (error ? reject(error) : resolve()))
    })
  }

  async closeStdin(): Promise<void> {
    this.#running.command.channel?.socket.end()
  }

  async resize(columns: number, rows: number): Promise<void> {
    const { command, pty } = this.#running
    if (!pty) throw new UnsupportedError('the command has no terminal to resize')
    await call('resizing a terminal', {}, (abortSignal) =>
      Promise.resolve(command.channel?.exec.resize({ w: columns, h: rows, abortSignal })),
    )
  }

  async kill({ graceMs = 0 }: { graceMs?: number } = {}): Promise<void> {
    const { container, command, exit } = this.#running
    if (graceMs > 0 && this.pid !== undefined) {
      // The wrapper's own process group is the command's: both get the signal.
      const argv = ['sh', '-c', 'kill -TERM "-$1" || kill -TERM "$1"', 'sh', String(this.pid)]
      await helperExec(container, argv, { user: '0', deadlineMs: 10_000 }).catch(() => undefined)
      const grace = new Promise((resolve) => setTimeout(resolve, graceMs))
      await Promise.race([exit.catch(() => undefined), grace])
    }
    command.stop(new KilledByOwner())
    await exit.catch(() => undefined)
  }

  wait(): Promise<ProcessExit> {
    return this.#running.exit
  }
}

/** Starts a command as `Sandbox.spawn` promises. @throws SandboxUnavailableError */
export async function spawnCommand(
  container: ContainerRef,
  argv: readonly string[],
  options: SpawnOptions & { readonly commands: Commands },
): Promise<SandboxProcess> {
  options.signal?.throwIfAborted()
  const [stdout, stderr] = [new ByteQueue(), new ByteQueue()]
  const sinks = {
    stdout: (data: Buffer) => stdout.write(data),
    stderr: (data: Buffer) => stderr.write(data),
  }
  const command = new Command(container, argv, { ...options, stdin: options.stdin ?? false, sinks })
  const startedAt = performance.now()
  let started: () => void = () => undefined
  const starting = new Promise<void>((resolve) => {
    started = resolve
  })
  const exit = options.commands
    .track(command, async () => {
      await command.start()
      started()
      return processExit(await command.end(), startedAt)
    })
    .finally(() => {
      stdout.end()
      stderr.end()
    })
  exit.catch(() => undefined)
  await Promise.race([starting, exit])
  return new EngineProcess({ container, command, stdout, stderr, exit, pty: options.pty !== undefined })
}
