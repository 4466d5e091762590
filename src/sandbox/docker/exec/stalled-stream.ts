import type Docker from 'dockerode'
import { sleep } from '../../../util/abort.ts'
import { call } from '../engine/call.ts'
import type { ExecOutput } from './exec-output.ts'

const FIRST_LOOK_MS = 5000
const LONGEST_LOOK_MS = 30_000
const LOOK_DEADLINE_MS = 10_000
/** What has been written may still be on its way. */
const SILENCE_MS = 3000

/**
 * Resolves when an exec has ended and its stream, still open, brings nothing any more: a connection of which one half is
 * gone says nothing by itself. Rejects when the signal is aborted.
 */
export async function streamStalled(
  exec: Docker.Exec,
  output: ExecOutput,
  signal: AbortSignal,
): Promise<void> {
  for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(2 * lookMs, LONGEST_LOOK_MS)) {
    await sleep(lookMs, signal)
    const info = await call('state of an exec', { signal, deadlineMs: LOOK_DEADLINE_MS }, (abortSignal) =>
      exec.inspect({ abortSignal }),
    ).catch(() => undefined)
    if (!info || info.Running) continue
    const { receivedBytes } = output
    await sleep(SILENCE_MS, signal)
    if (output.receivedBytes === receivedBytes) return
  }
}
