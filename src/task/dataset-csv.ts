import { CsvError, parse } from 'csv-parse/sync'
import { ConfigError, errorMessage } from '../errors.ts'
import type { LocatedRecord } from './dataset-records.ts'

interface Row {
  readonly cells: readonly string[]
  readonly line: number
}

/** Records under the names of the header line. Empty and NaN cells are missing fields; rows of empty cells are skipped. @throws ConfigError */
export function readCsv(text: string, file: string): LocatedRecord[] {
  const [header, ...rows] = parseRows(text, file)
  if (header === undefined) return []
  const names = columnNames(header, file)
  return rows.map(({ cells, line }) => {
    const entries = names.map((name, index) => [name, cells[index] ?? ''] as const)
    return {
      fields: Object.fromEntries(entries.filter(([, cell]) => !isMissing(cell))),
      where: `${file}:${line}`,
    }
  })
}

function isMissing(cell: string): boolean {
  const text = cell.trim()
  return text === '' || text === 'NaN'
}

function parseRows(text: string, file: string): Row[] {
  try {
    const options = { info: true, skip_empty_lines: true, skip_records_with_empty_values: true } as const
    const rows = parse(text, options) as unknown as { record: string[]; info: { lines: number } }[]
    return rows.map(({ record, info }) => ({ cells: record, line: info.lines - newlinesIn(record) }))
  } catch (cause) {
    const line = cause instanceof CsvError && typeof cause.lines === 'number' ? `:${cause.lines}` : ''
    throw new ConfigError(errorMessage(cause), { where: `${file}${line}`, cause })
  }
}

/** The library tells the line at which a record ends. */
function newlinesIn(cells: readonly string[]): number {
  return cells.join('').split('\n').length - 1
}

function columnNames({ cells, line }: Row, file: string): string[] {
  const where = `${file}:${line}`
  const names = cells.map((cell) => cell.trim())
  for (const [index, name] of names.entries()) {
    if (name === '') throw new ConfigError(`column ${index + 1} has no name`, { where })
    if (names.indexOf(name) !== index) throw new ConfigError(`two columns are named '${name}'`, { where })
  }
  return names
}
