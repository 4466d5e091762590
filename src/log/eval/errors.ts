import type { ErrorRecord } from '../records/records.ts'

/** All three texts are required by readers. */
export function toEvalError({ kind, message, stack = '' }: ErrorRecord) {
  return { message: `${kind}: ${message}`, traceback: stack, traceback_ansi: stack }
}

export const CANCELLED_ERROR = {
  message: 'The sample was cancelled.',
  traceback: '',
  traceback_ansi: '',
}
