import {
  BelljarError,
  errorMessage,
  ModelError,
  SandboxInitError,
  SandboxUnavailableError,
} from '../../errors.ts'
import type { ErrorRecord } from './records.ts'

/** What is kept of a thrown value. Causes are part of the message, as whoever reads the log has nothing else. */
export function errorRecord(kind: ErrorRecord['kind'], error: unknown): ErrorRecord {
  return {
    kind,
    code: error instanceof BelljarError ? error.code : 'error',
    message: withCauses(error),
    stack: error instanceof Error ? error.stack : undefined,
    transient: error instanceof SandboxInitError || error instanceof ModelError ? error.transient : undefined,
    postMortem: error instanceof SandboxUnavailableError ? error.postMortem : undefined,
  }
}

const CAUSES_SHOWN = 5

function withCauses(error: unknown): string {
  const messages: string[] = []
  let current = error
  for (let depth = 0; depth < CAUSES_SHOWN && current !== undefined; depth++) {
    const message = errorMessage(current)
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message)
    current = current instanceof Error ? current.cause : undefined
  }
  return messages.join(': ')
}
