import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../util/make-folder.ts'
import { escapeText } from '../../util/terminal.ts'

/** Which run of a sample the logs belong to. */
export interface ServiceLogOwner {
  readonly sample: string
  readonly epoch: number
  readonly attempt: number
}

export interface WrittenServiceLog {
  readonly service: string
  readonly number: number
  readonly text: string
  readonly omittedBytes: number
}

/** The folder of the service logs that belong to a log, beside it. */
export function serviceLogFolder(logPath: string): string {
  return `${logPath.replace(/\.(journal\.jsonl|eval)$/, '')}.services`
}

/** Letters, digits, dots and dashes of any text; what that leaves out is told apart by a hash. */
function safeName(text: string): string {
  if (/^[a-z0-9][a-z0-9.-]{0,59}$/.test(text)) return text
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
  const plain = text
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9.-]+/g, '-')
    .replaceAll(/^[.-]+|[.-]+$/g, '')
  return `${plain.slice(0, 50)}-${hash}`.replace(/^-/, '')
}

/** `<sample>_epoch-<n>_attempt-<n>_<service>.log`; further containers of a service have their number behind it. */
export function serviceLogName(
  owner: ServiceLogOwner,
  log: Pick<WrittenServiceLog, 'service' | 'number'>,
): string {
  const { sample, epoch, attempt } = owner
  const number = log.number > 1 ? `_${log.number}` : ''
  return `${safeName(sample)}_epoch-${epoch}_attempt-${attempt}_${safeName(log.service)}${number}.log`
}

/** Writes one file a service, each harmless for a terminal. Returns their paths. */
export async function writeServiceLogs(
  folder: string,
  owner: ServiceLogOwner,
  logs: readonly WrittenServiceLog[],
): Promise<string[]> {
  if (logs.length === 0) return []
  await makeFolder(folder)
  return Promise.all(
    logs.map(async (log) => {
      const path = join(folder, serviceLogName(owner, log))
      const omitted = log.omittedBytes > 0 ? `(${log.omittedBytes} bytes before this are left out)\n` : ''
      await writeFile(path, omitted + escapeText(log.text))
      return path
    }),
  )
}
