import { errorMessage } from '../../errors.ts'
import { EvalFile } from '../eval/file/eval-file.ts'
import { sampleMemberName } from '../eval/ids.ts'
import { toJournalLine } from '../journal/journal-line.ts'
import type { FooterRecord, HeaderRecord, LogRecord, SampleRecord } from '../records/records.ts'
import { isKept, PriorIndex } from './prior-index.ts'
import type { PriorLog } from './prior-log.ts'

/** Reads a finished log that is to be resumed. Where its outcome is damaged, what it said at its start serves. @throws ConfigError */
export async function openPriorEval(path: string): Promise<PriorLog> {
  const file = await EvalFile.open(path)
  try {
    const index = new PriorIndex()
    const { header, footer, problem, warnings } = await headOf(file)
    index.header = header
    const { summaries, lost } = header ? await summariesOf(file) : NOTHING
    for (const summary of summaries) await takeSummary(index, file, summary)
    const others = header ? await file.others() : []
    for (const record of others) if (record.type !== 'event') index.take(record)
    return {
      path,
      header,
      footer,
      problem,
      warnings: lost > 0 ? [...warnings, lostWarning(lost)] : warnings,
      samples: index.samples,
      configs: index.configs,
      state: index.state,
      added: index.added,
      load: async ({ id, epoch }) => (await file.sample(id, epoch)).record,
      lines: ({ withState }) => linesOf(file, { index, others, withState }),
      [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
    }
  } catch (error) {
    await file[Symbol.asyncDispose]()
    throw error
  }
}

interface Head {
  readonly header?: HeaderRecord
  readonly footer?: FooterRecord | undefined
  readonly problem?: string
  readonly warnings: readonly string[]
}

async function headOf(file: EvalFile): Promise<Head> {
  try {
    const [header, footer] = [await file.header(), await file.footer()]
    const isCut = footer === undefined && file.has('header.json')
    return {
      header,
      footer,
      warnings: isCut ? ['its outcome cannot be read; the samples themselves count'] : [],
    }
  } catch (error) {
    const header = await file.startHeader().catch(() => undefined)
    if (!header) return { problem: errorMessage(error), warnings: [] }
    return {
      header,
      warnings: [`its outcome cannot be read (${errorMessage(error)}); the samples themselves count`],
    }
  }
}

interface Summaries {
  /** In the order in which the samples ended. */
  readonly summaries: readonly SampleRecord[]
  /** How many there are of samples that the log does not hold. */
  readonly lost: number
}

const NOTHING: Summaries = { summaries: [], lost: 0 }

const lostWarning = (lost: number) =>
  `of ${lost} ${lost === 1 ? 'sample' : 'samples'} it holds no more than the summary; what it does not hold is run again`

/** What counts is which samples the log holds, whatever its summaries say. */
async function summariesOf(file: EvalFile): Promise<Summaries> {
  const listed = await file.summaries().catch(() => [])
  const unlisted = new Set(file.sampleMembers)
  const summaries = listed.filter(({ id, epoch }) => unlisted.delete(sampleMemberName(id, epoch)))
  const lost = listed.length - summaries.length
  for (const name of unlisted) summaries.push((await file.sampleOf(name)).record)
  return { summaries, lost }
}

/** A summary tells what a sample came to; of one that failed more is wanted. */
async function takeSummary(index: PriorIndex, file: EvalFile, summary: SampleRecord): Promise<void> {
  const isDone = summary.status === 'success' || summary.status === 'limit'
  index.takeSample(
    isDone ? summary : (await file.sampleOf(sampleMemberName(summary.id, summary.epoch))).record,
  )
}

interface LinesOptions {
  readonly index: PriorIndex
  readonly others: readonly LogRecord[]
  readonly withState: boolean
}

async function* linesOf(file: EvalFile, { index, others, withState }: LinesOptions): AsyncGenerator<Buffer> {
  const added = new Set<LogRecord>(index.added)
  for (const record of others) if (isKept(record, { added, withState })) yield toJournalLine(record)
  for (const { id, epoch } of index.samples.values()) {
    const { record, events } = await file.sample(id, epoch)
    for (const event of events) yield toJournalLine({ type: 'event', uuid: record.uuid, event })
    yield toJournalLine(record)
  }
}
