import type { Command } from 'commander'
import { ConfigError } from '../errors.ts'
import { readLog } from '../log/log-reader.ts'
import type { FooterRecord, HeaderRecord, LogRecord, SampleRecord } from '../log/records.ts'
import { escapeLine, table } from '../util/terminal.ts'
import { processOutput } from './output.ts'
import { summary } from './summary.ts'

/** `belljar log show LOG` */
export function addLogCommand(program: Command, finish: (exitCode: number) => void): void {
  const log = program.command('log').description('read logs')
  log
    .command('show')
    .description('show an eval: its outcome, its samples and what went wrong')
    .argument('<log>', 'path of a log')
    .option('--json', 'records on stdout, one object a line')
    .action(async (path: string, flags: { json?: boolean }) => finish(await show(path, flags)))
}

interface Shown {
  header?: HeaderRecord
  footer?: FooterRecord
  readonly rows: string[][]
  readonly notes: string[]
}

async function show(path: string, flags: { json?: boolean }): Promise<number> {
  const output = processOutput()
  const shown: Shown = { rows: [], notes: [] }
  for await (const record of readLog(path)) {
    if (flags.json) output.json(record)
    else take(shown, record)
  }
  if (flags.json) return 0
  if (!shown.header) throw new ConfigError('the log has no header', { where: path })
  output.line(summary({ header: shown.header, footer: shown.footer }))
  for (const note of shown.notes) output.line(note)
  const heading = ['sample', 'epoch', 'status', 'scores', 'seconds', 'error']
  if (shown.rows.length > 0) output.line(`\n${table([heading, ...shown.rows])}`)
  return 0
}

function take(shown: Shown, record: LogRecord): void {
  if (record.type === 'header') shown.header = record
  if (record.type === 'footer') shown.footer = record
  if (record.type === 'sample') shown.rows.push(sampleRow(record))
  if (record.type === 'note' && record.level !== 'info')
    shown.notes.push(`${record.level}: ${escapeLine(record.message)}`)
  if (record.type !== 'config' || !record.error) return
  shown.notes.push(`sandbox ${escapeLine(record.description)}: ${escapeLine(record.error.message, 400)}`)
}

function sampleRow(record: SampleRecord): string[] {
  const scores = Object.entries(record.scores).map(([name, { value }]) => `${name}=${JSON.stringify(value)}`)
  const error = record.error
    ? `${record.error.kind}: ${record.error.message}`
    : record.limit
      ? `${record.limit.type} limit`
      : ''
  return [
    escapeLine(String(record.id), 40),
    String(record.epoch),
    record.status,
    escapeLine(scores.join(' '), 60),
    (record.totalMs / 1000).toFixed(1),
    escapeLine(error, 120),
  ]
}
