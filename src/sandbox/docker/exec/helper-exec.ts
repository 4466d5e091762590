import type { ContainerRef } from '../container/container-ref.ts'
import { deferred } from '../engine/deferred.ts'
import { Demuxer } from './demuxer.ts'
import { type ExecRequest, execExitCode, openExec } from './exec-channel.ts'
import { TailBuffer } from './tail-buffer.ts'

export type HelperOptions = Pick<ExecRequest, 'env' | 'user' | 'workdir' | 'privileged'> & {
  readonly deadlineMs: number
}

/** Runs a short command without the wrapper, under a deadline. @throws EngineError, Error when the deadline passed */
export async function helperExec(
  container: ContainerRef,
  argv: readonly string[],
  { deadlineMs, ...request }: HelperOptions,
): Promise<{ exitCode: number; output: string }> {
  const channel = await openExec(container, { argv, ...request })
  const tail = new TailBuffer(4096)
  const demuxer = new Demuxer((_stream, payload) => tail.write(payload))
  const done = deferred<void>()
  const timer = setTimeout(
    () => done.reject(new Error(`a helper command took over ${deadlineMs} ms`)),
    deadlineMs,
  )
  channel.socket.on('data', (chunk: Buffer) => demuxer.push(chunk))
  channel.socket.on('error', (error: Error) => done.reject(error))
  channel.socket.once('close', () => done.resolve())
  channel.socket.once('end', () => done.resolve())
  try {
    await done.promise
    return { exitCode: await execExitCode(channel.exec), output: tail.text() }
  } finally {
    clearTimeout(timer)
    channel.socket.destroy()
  }
}
