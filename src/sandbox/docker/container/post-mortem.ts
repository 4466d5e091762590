import { setTimeout as sleep } from 'node:timers/promises'
import { SandboxUnavailableError, type UnavailableReason } from '../../../errors.ts'
import { call } from '../engine/call.ts'
import { isConnectionError, statusOf } from '../engine/engine-error.ts'
import { Demuxer } from '../exec/demuxer.ts'
import { TailBuffer } from '../exec/tail-buffer.ts'
import type { ContainerRef } from './container-ref.ts'

const LOG_LINES = 100
const LOG_BYTES = 64 * 1024
const REMOVAL_KNOWN_MS = 300

export interface ContainerState {
  readonly Status: string
  readonly Running: boolean
  readonly Paused: boolean
  readonly OOMKilled: boolean
  readonly ExitCode: number
  readonly Error: string
  readonly FinishedAt: string
}

export interface Finding {
  readonly reason: UnavailableReason
  readonly message: string
}

/** What a call fails with whose service cannot serve. */
export function unavailable(
  service: string,
  { reason, message, postMortem, cause }: Finding & { postMortem?: string | undefined; cause?: unknown },
): SandboxUnavailableError {
  return new SandboxUnavailableError(`the sandbox service '${service}' is unavailable: ${message}`, {
    reason,
    service,
    ...(postMortem !== undefined && { postMortem }),
    cause,
  })
}

export const PAUSED = {
  reason: 'paused',
  message: 'its container is paused',
  postMortem: 'status paused',
} as const satisfies Finding & { postMortem: string }

/** A forced removal kills first. The removal is told by an event right after the death. */
export function isGone({ engine, id }: ContainerRef): Promise<boolean> {
  const removed = engine.events.watch(id).removed.then(() => true)
  return Promise.race([removed, sleep(REMOVAL_KNOWN_MS, false, { ref: false })])
}

function judge(state: ContainerState): Finding | undefined {
  if (state.Paused) return PAUSED
  if (state.Running) return undefined
  if (state.OOMKilled) {
    return { reason: 'oom', message: `its container ran out of memory (exit code ${state.ExitCode})` }
  }
  if (state.Status === 'created') return { reason: 'start', message: 'its container was never started' }
  if (state.ExitCode === 137) return { reason: 'killed', message: 'its container was killed (exit code 137)' }
  return { reason: 'exited', message: `its container exited with code ${state.ExitCode}` }
}

/** The last lines that the container's main process printed; empty where the engine keeps none. */
export async function logTail(container: ContainerRef, tty: boolean): Promise<string> {
  const tail = new TailBuffer(LOG_BYTES)
  try {
    const logs = await call('logs', { deadlineMs: 1000 }, (abortSignal) =>
      container.control.logs({ follow: false, stdout: true, stderr: true, tail: LOG_LINES, abortSignal }),
    )
    if (tty) tail.write(Buffer.from(logs))
    else new Demuxer((_stream, payload) => tail.write(payload)).push(Buffer.from(logs))
  } catch {
    return ''
  }
  return tail.text()
}

async function examine(container: ContainerRef): Promise<(Finding & { postMortem: string }) | undefined> {
  const info = await call('state of a container', { deadlineMs: 2000 }, (abortSignal) =>
    container.control.inspect({ abortSignal }),
  )
  const state: ContainerState = info.State
  const finding = judge(state)
  if (!finding) return undefined
  const facts = `status ${state.Status}, exit code ${state.ExitCode}, OOMKilled ${state.OOMKilled}, finished ${state.FinishedAt}`
  const logs = finding.reason === 'paused' ? '' : await logTail(container, info.Config.Tty)
  const error = state.Error ? `\nerror: ${state.Error}` : ''
  return { ...finding, postMortem: `${facts}${error}${logs ? `\nlast log lines:\n${logs}` : ''}` }
}

/** Why a container cannot serve; undefined when it runs. Answers within about two seconds. */
export async function findUnavailable(
  container: ContainerRef,
  cause?: unknown,
): Promise<SandboxUnavailableError | undefined> {
  const failed = (reason: UnavailableReason, message: string, postMortem?: string) =>
    unavailable(container.service, { reason, message, postMortem, cause })
  if (container.engine.openStreams.isRetired(container.id)) {
    return failed('removed', 'it is being removed or has been')
  }
  try {
    const found = await examine(container)
    if (found?.reason === 'killed' && (await isGone(container))) {
      return failed('removed', 'its container was removed from outside', found.postMortem)
    }
    return found && failed(found.reason, found.message, found.postMortem)
  } catch (error) {
    if (statusOf(error) === 404) return failed('removed', `its container ${container.name} does not exist`)
    const what = isConnectionError(error) ? 'the Docker engine does not answer' : 'the Docker engine failed'
    return failed('daemon', `${what} (${String((error as Error).message)})`)
  }
}
