import { readLog, readOverview, readSample } from '../../log/read/log-reader.ts'
import type { LogRecord, SampleRecord } from '../../log/records/records.ts'
import { escapeLine, table } from '../../util/terminal.ts'
import { EXIT_CODES } from '../exit-code.ts'
import { type Output, processOutput } from '../show/output.ts'
import { summary } from '../show/summary.ts'
import { sampleText } from './log-sample.ts'

export interface ShowFlags {
  readonly json?: boolean
  readonly sample?: string
  readonly epoch: number
}

/** `belljar log show LOG` */
export async function show(path: string, flags: ShowFlags): Promise<number> {
  const output = processOutput()
  if (flags.sample !== undefined) await showSample(path, flags.sample, { flags, output })
  else if (flags.json) for await (const record of readLog(path)) output.json(record)
  else await showOverview(path, output)
  return EXIT_CODES.success
}

async function showSample(
  path: string,
  id: string,
  { flags, output }: { flags: ShowFlags; output: Output },
): Promise<void> {
  const { record, events } = await readSample(path, { id, epoch: flags.epoch })
  if (!flags.json) return output.line(sampleText(record, events))
  for (const event of events) output.json({ type: 'event', uuid: record.uuid, event })
  output.json(record)
}

async function showOverview(path: string, output: Output): Promise<void> {
  const { header, footer, samples, others } = await readOverview(path)
  output.line(summary({ header, footer }))
  for (const note of others.flatMap(noteLine)) output.line(note)
  const heading = ['sample', 'epoch', 'status', 'scores', 'seconds', 'error']
  if (samples.length > 0) output.line(`\n${table([heading, ...samples.map(sampleRow)])}`)
}

function noteLine(record: LogRecord): string[] {
  if (record.type === 'note' && record.level !== 'info')
    return [`${record.level}: ${escapeLine(record.message)}`]
  if (record.type === 'config' && record.error)
    return [`sandbox ${escapeLine(record.description)}: ${escapeLine(record.error.message, 400)}`]
  return []
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
