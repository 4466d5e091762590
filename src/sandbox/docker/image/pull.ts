import type { Readable } from 'node:stream'
import { errorMessage, SandboxInitError } from '../../../errors.ts'
import { call } from '../engine/call.ts'
import { diskFull } from '../engine/disk-full.ts'
import type { Engine } from '../engine/engine.ts'
import { EngineError, statusOf } from '../engine/engine-error.ts'
import { progressLines } from './json-lines.ts'
import { registryAuth } from './registry-auth.ts'

/** What waits: real time, or a test's. */
export interface Clock {
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export interface PullOptions {
  readonly platform?: string | undefined
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly report?: (message: string) => void
}

const ATTEMPTS = 5
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000
/** A pull from which nothing has come for this long is given up. */
const SILENCE_MS = 300_000

/** Name and tag as the Engine's call wants them: a digest stays in the name. */
export function splitReference(reference: string): { fromImage: string; tag?: string } {
  if (reference.includes('@')) return { fromImage: reference }
  const colon = reference.lastIndexOf(':')
  if (colon > reference.lastIndexOf('/')) {
    return { fromImage: reference.slice(0, colon), tag: reference.slice(colon + 1) }
  }
  return { fromImage: reference, tag: 'latest' }
}

async function pullOnce(engine: Engine, reference: string, options: PullOptions): Promise<void> {
  const { platform, signal } = options
  const stream = (await call(
    `pulling ${reference}`,
    { signal, deadlineMs: SILENCE_MS },
    () =>
      engine.streams.createImage(registryAuth(reference), {
        ...splitReference(reference),
        ...(platform && { platform }),
        abortSignal: signal,
      }) as Promise<unknown>,
  )) as Readable
  const silence = setTimeout(
    () => stream.destroy(new EngineError(`no progress in ${SILENCE_MS / 1000} s`, {})),
    SILENCE_MS,
  )
  try {
    for await (const line of progressLines(stream)) {
      silence.refresh()
      const message = line.errorDetail?.message ?? line.error
      if (message) throw new EngineError(message, { status: line.errorDetail?.code ?? 500 })
    }
  } finally {
    clearTimeout(silence)
    stream.destroy()
  }
}

/** The Engine answers 404 for what the registry does not have or does not give; 400 for a reference that is none. */
function isTransient(error: unknown): boolean {
  const status = statusOf(error)
  return status === undefined || status === 429 || status >= 500
}

/** Pulls an image, again after a growing pause where that may help: an error is final for whoever asks. @throws SandboxInitError with the registry's own message; DiskFullError */
export async function pullImage(engine: Engine, reference: string, options: PullOptions): Promise<void> {
  const { signal, clock, report } = options
  let pauseMs = FIRST_PAUSE_MS
  for (let attempt = 1; ; attempt += 1) {
    report?.(`pulling ${reference}`)
    try {
      await pullOnce(engine, reference, options)
      return
    } catch (error) {
      signal.throwIfAborted()
      const full = await diskFull(engine, error)
      if (full) throw full
      if (!isTransient(error) || attempt === ATTEMPTS) {
        const often = attempt > 1 ? ` (tried ${attempt} times)` : ''
        throw new SandboxInitError(`image ${reference} cannot be pulled${often}: ${errorMessage(error)}`, {
          cause: error,
        })
      }
      report?.(`pulling ${reference} again in ${pauseMs / 1000} s: ${errorMessage(error)}`)
    }
    await clock.sleep(pauseMs, signal)
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }
}
