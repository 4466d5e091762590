/** One figure of a benchmark. `floor` is the bare Engine API doing the same in the same run. */
export interface BenchRow {
  readonly bench: string
  readonly case: string
  readonly metric: string
  readonly value: number
  readonly unit: string
  readonly floor?: number
  readonly ratio?: number
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

export function withFloor(row: Omit<BenchRow, 'floor' | 'ratio'>, floor: number): BenchRow {
  return { ...row, floor, ratio: row.value / floor }
}

const number = (value: number | undefined, digits: number) =>
  value === undefined ? '' : value.toFixed(digits)

/** The rows as text in columns. */
export function formatTable(rows: readonly BenchRow[]): string {
  const head = ['case', 'metric', 'belljar', 'floor', 'ratio', 'unit']
  const body = rows.map((row) => [
    row.case,
    row.metric,
    number(row.value, 1),
    number(row.floor, 1),
    number(row.ratio, 2),
    row.unit,
  ])
  const widths = head.map((_, column) =>
    Math.max(...[head, ...body].map((line) => (line[column] ?? '').length)),
  )
  const isNumber = (column: number) => column >= 2 && column <= 4
  const format = (line: readonly string[]) =>
    line
      .map((text, column) =>
        isNumber(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [head, ...body].map(format).join('\n')
}
