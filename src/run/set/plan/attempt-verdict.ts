import type { ErrorRecord, FooterRecord } from '../../../log/records/records.ts'

/** What becomes of an eval of a set after an attempt. */
export type AttemptVerdict =
  | { readonly kind: 'complete' }
  /** It is tried again. `inNewRun`: a run does not try a sandbox configuration again that has failed in it. */
  | { readonly kind: 'again'; readonly why: string; readonly inNewRun: boolean }
  /** Trying again is of no use. */
  | { readonly kind: 'failed'; readonly why: string }
  /** Somebody ended it: it goes on when the set is run again. */
  | { readonly kind: 'stopped'; readonly why: string }

export interface AttemptOutcome {
  readonly footer: FooterRecord
  /** Of its samples in this attempt. */
  readonly sampleErrors: readonly ErrorRecord[]
  /** Whether its task may leave samples out on purpose. */
  readonly stopsEarly: boolean
}

/** Codes of errors that the same attempt would meet again. */
const LASTING: readonly string[] = [
  'config',
  'unsupported',
  'duplicate-sample',
  'few-shot-pool',
  'resume-version',
  'resume-identity',
  'resume-config',
]

export function attemptVerdict({ footer, sampleErrors, stopsEarly }: AttemptOutcome): AttemptVerdict {
  const { status, stopped, sourceEnded, totals } = footer
  const { error, cancelled, abandoned = 0 } = totals
  if (stopped !== undefined) return { kind: 'stopped', why: `an operator ended it (${stopped})` }
  if (status === 'cancelled') return { kind: 'stopped', why: 'it was cancelled' }
  if (status === 'success' && error + cancelled === 0 && sourceEnded) {
    if (abandoned === 0 || stopsEarly) return { kind: 'complete' }
    return { kind: 'stopped', why: `${abandoned} of its samples were abandoned` }
  }
  const errors = distinct(footer, sampleErrors)
  const why = errors[0]?.message ?? 'it did not come to its end'
  if (errors.length > 0 && errors.every(isLasting)) return { kind: 'failed', why }
  return { kind: 'again', why, inNewRun: errors.some(({ kind }) => kind === 'config') }
}

/** Whether an error would be met again. `transient` is what whoever threw it knew. */
export function isLasting({ kind, code, transient }: ErrorRecord): boolean {
  if (kind === 'operator' || LASTING.includes(code)) return true
  return transient === false && code !== 'model-other'
}

/** That of the eval is one of its own unless it only says that a sample's were too many. */
function distinct({ error }: FooterRecord, sampleErrors: readonly ErrorRecord[]): ErrorRecord[] {
  const isOwn = error !== undefined && !sampleErrors.some(({ code }) => code === error.code)
  return isOwn ? [error, ...sampleErrors] : [...sampleErrors]
}
