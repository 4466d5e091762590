import { ModelError, type ModelErrorKind } from '../../errors.ts'
import type { GenerateConfig } from '../model.ts'

const DEFAULT_MAX_RETRIES = 10
/** An answer that could not be read may be read the next time, but rarely the tenth. */
const MAX_UNREADABLE = 2
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
/** A provider that asks for more is not waited for. */
const LONGEST_RETRY_AFTER_MS = 15 * 60_000

/** Errors of sockets, by their code, for models that throw them as they are. */
const CONNECTION_CODES = [
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]

export interface FailedAttempt {
  readonly error: unknown
  /** How many have failed, this one among them. */
  readonly attempt: number
  readonly config: GenerateConfig | undefined
  /** From 0 up to 1. */
  readonly random: () => number
}

/** Milliseconds until the next attempt; undefined: there is none. Twice as long after each failure, up to a minute, less up to half by chance; never less than the provider asks for. */
export function pauseAfter({ error, attempt, config, random }: FailedAttempt): number | undefined {
  const { kind, retryAfterMs } = transientFacts(error) ?? {}
  if (kind === undefined) return undefined
  const maxRetries = config?.maxRetries ?? DEFAULT_MAX_RETRIES
  if (attempt > (kind === 'response' ? Math.min(maxRetries, MAX_UNREADABLE) : maxRetries)) return undefined
  if (retryAfterMs !== undefined)
    return retryAfterMs > LONGEST_RETRY_AFTER_MS
      ? undefined
      : Math.ceil(retryAfterMs + random() * Math.min(1000, retryAfterMs / 10))
  const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1))
  return Math.ceil(pauseMs * (1 - random() / 2))
}

/** What is known of an error after which the same call may pass; undefined of any other. */
export function transientFacts(
  error: unknown,
): { kind: ModelErrorKind; retryAfterMs?: number; status?: number } | undefined {
  if (error instanceof ModelError) return error.transient ? error : undefined
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    const { code } = cause as NodeJS.ErrnoException
    if (typeof code === 'string' && CONNECTION_CODES.includes(code)) return { kind: 'connection' }
  }
  return undefined
}
