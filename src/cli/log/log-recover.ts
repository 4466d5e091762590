import { existsSync } from 'node:fs'
import { ConfigError } from '../../errors.ts'
import { isJournalPath, journalPathOf } from '../../log/log-paths.ts'
import { finishLog } from '../../log/write/finish-log.ts'
import { escapeLine } from '../../util/terminal.ts'
import { EXIT_CODES } from '../exit-code.ts'
import { processOutput } from '../show/output.ts'

/** `belljar log recover LOG` */
export async function recover(path: string, flags: { json?: boolean }): Promise<number> {
  const output = processOutput()
  const journal = isJournalPath(path) ? path : journalPathOf(path)
  if (!existsSync(journal)) {
    const problem = existsSync(path)
      ? 'the log is finished; there is nothing to recover'
      : 'there is no such journal'
    throw new ConfigError(problem, { where: path })
  }
  const recovered = await finishLog(journal, { recover: true })
  const { path: finished, samples, cancelled, damagedLines, keptJournal, footer } = recovered
  if (flags.json)
    output.json({ path: finished, status: footer.status, samples, cancelled, damagedLines, keptJournal })
  output.line(`${samples} samples, ${cancelled} of them cancelled as they were under way`)
  if (keptJournal !== undefined)
    output.line(
      `${damagedLines} damaged lines were left out; the journal is kept: ${escapeLine(keptJournal, 400)}`,
    )
  output.line(`log: ${finished}`)
  return EXIT_CODES.success
}
