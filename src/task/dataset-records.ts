import { ConfigError, errorMessage } from '../errors.ts'
import { readCsv } from './dataset-csv.ts'
import { readYaml } from './dataset-yaml.ts'

export const DATASET_FORMATS = ['jsonl', 'json', 'csv', 'yaml'] as const
export type DatasetFormat = (typeof DATASET_FORMATS)[number]

/** One record of a data file as it stands there. */
export type DatasetRecord = Readonly<Record<string, unknown>>

export interface LocatedRecord {
  readonly fields: DatasetRecord
  /** `FILE:LINE`, or `FILE, record N` in a format that tells no lines. */
  readonly where: string
}

export interface ReadRecordsOptions {
  /** For errors. */
  readonly file: string
  readonly format: DatasetFormat
}

/** @throws ConfigError that names file and line for text that is not of the format, or a record that is not one */
export function readRecords(text: string, { file, format }: ReadRecordsOptions): LocatedRecord[] {
  if (format === 'csv') return readCsv(text, file)
  if (format === 'yaml') return readYaml(text, file).map(checkedRecord)
  return (format === 'jsonl' ? readJsonLines(text, file) : readJson(text, file)).map(checkedRecord)
}

export interface LocatedValue {
  readonly value: unknown
  readonly where: string
}

function checkedRecord({ value, where }: LocatedValue): LocatedRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigError(`expected a record of fields, got ${describe(value)}`, { where })
  }
  return { fields: value as DatasetRecord, where }
}

function readJsonLines(text: string, file: string): LocatedValue[] {
  return text.split('\n').flatMap((line, index) => {
    const where = `${file}:${index + 1}`
    return line.trim() === '' ? [] : [{ value: parseJson(line, where), where }]
  })
}

function readJson(text: string, file: string): LocatedValue[] {
  if (text.trim() === '') return []
  const values = parseJson(text, file)
  if (!Array.isArray(values)) {
    throw new ConfigError(`expected a list of records, got ${describe(values)}`, { where: file })
  }
  return values.map((value, index) => ({ value, where: `${file}, record ${index + 1}` }))
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ConfigError(`is not JSON: ${errorMessage(cause)}`, { where, cause })
  }
}

/** What kind of value it is, for a person. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'a record' : `a ${typeof value}`
}
