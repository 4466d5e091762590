import { scoreToNumber } from '../../score/score-number.ts'
import type { HeaderRecord, SampleRecord } from '../records/records.ts'

export type Cell = string | number | null

/** A sample as columns: the same ones for every sample of a log, each of one type. What has no column of its own is JSON text. */
export function flatRow(header: HeaderRecord, record: SampleRecord): Record<string, Cell> {
  const { error, limit, target, usage } = record
  const tokens = (name: string) => Object.values(usage).reduce((sum, counts) => sum + (counts[name] ?? 0), 0)
  return {
    eval: header.eval,
    task: header.task.name,
    model: header.model ?? null,
    id: String(record.id),
    epoch: record.epoch,
    uuid: record.uuid,
    attempt: record.attempt,
    status: record.status,
    input: record.input,
    target: target === undefined ? null : typeof target === 'string' ? target : JSON.stringify(target),
    output: record.output,
    metadata: JSON.stringify(record.metadata),
    ...scoreColumns(header, record),
    error_kind: error?.kind ?? null,
    error_message: error?.message ?? null,
    limit_type: limit?.type ?? null,
    messages: record.messages.length,
    input_tokens: tokens('inputTokens'),
    output_tokens: tokens('outputTokens'),
    started_at: record.startedAt,
    completed_at: record.completedAt,
    total_ms: record.totalMs,
    working_ms: record.workingMs,
  }
}

function scoreColumns({ scorers }: HeaderRecord, { scores }: SampleRecord): Record<string, Cell> {
  const columns: Record<string, Cell> = {}
  for (const { name } of scorers) {
    const score = scores[name]
    columns[`score_${name}`] = score === undefined ? null : scoreToNumber(score.value)
    columns[`score_${name}_value`] = score === undefined ? null : JSON.stringify(score.value)
    columns[`score_${name}_answer`] = score?.answer ?? null
  }
  return columns
}

/** A line of CSV. Format: RFC 4180. */
export function csvLine(cells: readonly Cell[]): string {
  const line = cells.map((cell) => {
    const text = cell === null ? '' : String(cell)
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  })
  return `${line.join(',')}\r\n`
}
