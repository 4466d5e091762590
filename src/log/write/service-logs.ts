import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../util/make-folder.ts'
import { escapeText } from '../../util/terminal.ts'
import { type BesideOwner, folderBeside, ownerName, safeName } from './beside-log.ts'

export interface WrittenServiceLog {
  readonly service: string
  readonly number: number
  readonly text: string
  readonly omittedBytes: number
}

/** The folder of the service logs that belong to a log, beside it. */
export function serviceLogFolder(logPath: string): string {
  return folderBeside(logPath, 'services')
}

/** `<sample>_epoch-<n>_attempt-<n>_<service>.log`; further containers of a service have their number behind it. */
export function serviceLogName(
  owner: BesideOwner,
  log: Pick<WrittenServiceLog, 'service' | 'number'>,
): string {
  const number = log.number > 1 ? `_${log.number}` : ''
  return `${ownerName(owner)}_${safeName(log.service)}${number}.log`
}

/** Writes one file a service, each harmless for a terminal. Returns their paths. */
export async function writeServiceLogs(
  folder: string,
  owner: BesideOwner,
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
