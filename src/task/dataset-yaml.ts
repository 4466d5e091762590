import { isSeq, LineCounter, parseDocument } from 'yaml'
import { ConfigError } from '../errors.ts'
import type { LocatedValue } from './dataset-records.ts'

/** The items of a YAML list with the lines at which they begin. @throws ConfigError */
export function readYaml(text: string, file: string): LocatedValue[] {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false })
  const whereOf = (offset: number | undefined) =>
    offset === undefined ? file : `${file}:${lines.linePos(offset).line}`
  const [error] = document.errors
  if (error !== undefined) {
    throw new ConfigError(`is not YAML: ${error.message}`, { where: whereOf(error.pos[0]), cause: error })
  }
  const { contents } = document
  if (contents === null) return []
  if (!isSeq(contents)) throw new ConfigError('expected a list of records', { where: file })
  const values: unknown[] = document.toJS()
  return values.map((value, index) => ({ value, where: whereOf(offsetOf(contents.items[index])) }))
}

function offsetOf(node: unknown): number | undefined {
  const hasRange = typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
  return hasRange ? (node as { range: number[] }).range[0] : undefined
}
