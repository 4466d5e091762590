import { createHash } from 'node:crypto'

/** Which run of a sample something belongs to. */
export interface BesideOwner {
  readonly sample: string
  readonly epoch: number
  readonly attempt: number
}

/** A folder of what belongs to a log, beside it: `<log>.<what>`. */
export function folderBeside(logPath: string, what: string): string {
  return `${logPath.replace(/\.(journal\.jsonl|eval)$/, '')}.${what}`
}

/** `<sample>_epoch-<n>_attempt-<n>` */
export function ownerName({ sample, epoch, attempt }: BesideOwner): string {
  return `${safeName(sample)}_epoch-${epoch}_attempt-${attempt}`
}

/** Letters, digits, dots and dashes of any text; what that leaves out is told apart by a hash. */
export function safeName(text: string): string {
  if (/^[a-z0-9][a-z0-9.-]{0,59}$/.test(text)) return text
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  const plain = text
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9.-]+/g, '-')
    .replaceAll(/^[.-]+|[.-]+$/g, '')
  return `${plain.slice(0, 50)}-${hash}`.replace(/^-/, '')
}
