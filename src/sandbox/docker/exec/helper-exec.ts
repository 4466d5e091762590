import type { ContainerRef } from '../container/container-ref.ts'
import { deferred } from '../engine/deferred.ts'
import { Demuxer } from './demuxer.ts'
import { execExitCode, openExec } from './exec-channel.ts'
import { TailBuffer } from './tail-buffer.ts'

/** Runs one of belljar's own short commands without the wrapper, under a deadline. @throws EngineError, Error when the deadline passed */
export async function helperExec(
  container: ContainerRef,
  argv: readonly string[],
  options: { user?: string | undefined; deadlineMs: number },
): Promise<{ exitCode: number; output: string }> {
  const channel = await openExec(container, { argv, user: options.user })
  const tail = new TailBuffer(4096)
  const demuxer = new Demuxer((_stream, payload) => tail.write(payload))
  const done = deferred<void>()
  const timer = setTimeout(
    () => done.reject(new Error(`a helper command took over ${options.deadlineMs} ms`)),
    options.deadlineMs,
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
