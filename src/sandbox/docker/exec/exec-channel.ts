import type { Duplex } from 'node:stream'
import type Docker from 'dockerode'
import type { ContainerRef } from '../container/container-ref.ts'
import { call } from '../engine/call.ts'
import { EngineDeadlineError, EngineError, statusOf } from '../engine/engine-error.ts'

export interface ExecRequest {
  readonly argv: readonly string[]
  readonly env?: readonly string[]
  readonly user?: string | undefined
  readonly workdir?: string | undefined
  readonly privileged?: boolean
  readonly stdin?: boolean
  readonly pty?: { readonly columns: number; readonly rows: number } | undefined
}

export interface ExecChannel {
  readonly exec: Docker.Exec
  /** The hijacked connection: input one way, multiplexed output (raw with a pty) the other. */
  readonly socket: Duplex
}

/** Creates and starts an exec. It is not abortable: whoever wants to stop it must know what was started. @throws EngineError */
export async function openExec(container: ContainerRef, request: ExecRequest): Promise<ExecChannel> {
  const { argv, env = [], user, workdir, privileged = false, stdin = false, pty } = request
  const created = await patiently(() =>
    call('creating an exec', {}, () =>
      container.control.exec({
        Cmd: [...argv],
        Env: [...env],
        AttachStdin: stdin,
        AttachStdout: true,
        AttachStderr: true,
        Tty: pty !== undefined,
        ...(user !== undefined && { User: user }),
        ...(workdir !== undefined && { WorkingDir: workdir }),
        ...(privileged && { Privileged: true }),
      }),
    ),
  )
  const exec = container.engine.streams.getExec(created.id)
  const start = { hijack: true, stdin: true, Detach: false, Tty: pty !== undefined }
  const size = pty ? { ConsoleSize: [pty.rows, pty.columns] } : {}
  const socket = await call('starting an exec', {}, () => exec.start({ ...start, ...size }))
  container.engine.openStreams.add(container.id, socket)
  return { exec: container.engine.control.getExec(created.id), socket }
}

const PAUSES_MS = [100, 400]

/** Runs nothing yet, so it may be asked for again: but not for long, as whoever waits is to hear of a dead engine soon. */
async function patiently<T>(create: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await create()
    } catch (error) {
      const status = statusOf(error)
      const isRefused = status !== undefined && status !== 429 && status < 500
      if (isRefused || error instanceof EngineDeadlineError) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  return create()
}

const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 1000

/** The exit code of an exec whose stream has ended: the Engine may know it a moment later. @throws EngineError */
export async function execExitCode(exec: Docker.Exec, deadlineMs = 5000): Promise<number> {
  const end = performance.now() + deadlineMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const info = await call('state of an exec', { deadlineMs }, (abortSignal) =>
      exec.inspect({ abortSignal }),
    )
    if (!info.Running && info.ExitCode !== null) return info.ExitCode
    if (performance.now() + pauseMs > end) {
      throw new EngineError(`the exec's stream has ended, but after ${deadlineMs} ms it has no exit code`, {})
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
