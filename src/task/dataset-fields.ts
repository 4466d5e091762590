import { ConfigError, errorMessage } from '../errors.ts'
import { SAMPLE_FIELDS, type Sample } from '../sample/sample.ts'
import type { DatasetRecord } from './dataset-records.ts'

/** Name of the record's field for a sample's field; for `metadata` also a list of fields that are collected under their own names. */
export type FieldMapping = Partial<Record<Exclude<keyof Sample, 'metadata'>, string>> & {
  readonly metadata?: string | readonly string[]
}

export type DatasetFields = FieldMapping | ((record: DatasetRecord) => Sample)

/** Makes of one record what `parseSample` takes; `where` names the record in errors. */
export type FieldReader = (record: DatasetRecord, where: string) => unknown

export interface FieldReaderOptions {
  /** Whether structured fields come as JSON text. */
  readonly jsonCells: boolean
}

/** @throws ConfigError for a mapping of a field that samples do not have */
export function fieldReader(fields: DatasetFields, options: FieldReaderOptions): FieldReader {
  if (typeof fields === 'function') return (record, where) => callMapping(fields, record, where)
  const sources = sourceNames(fields)
  const mapped = new Set([...sources.values()].flat())
  return (record, where) => {
    refuseUnknownFields(record, mapped, where)
    const values = [...sources].map(([field, source]) => {
      const value = typeof source === 'string' ? record[source] : collected(record, source)
      return [field, options.jsonCells ? structured(field, value, where) : value] as const
    })
    return Object.fromEntries(values.filter(([, value]) => value !== undefined && value !== null))
  }
}

function callMapping(
  makeSample: (record: DatasetRecord) => Sample,
  record: DatasetRecord,
  where: string,
): Sample {
  try {
    return makeSample(record)
  } catch (cause) {
    throw new ConfigError(`the function that makes samples failed: ${errorMessage(cause)}`, { where, cause })
  }
}

type Source = string | readonly string[]

/** A field that the mapping leaves out is read under its own name, unless the mapping uses that name for another one. */
function sourceNames(mapping: FieldMapping): ReadonlyMap<string, Source> {
  const given = Object.entries<Source | undefined>(mapping)
  const unknown = given.find(([field]) => !SAMPLE_FIELDS.includes(field))
  if (unknown !== undefined) {
    throw new ConfigError(`samples have no field '${unknown[0]}'; expected ${SAMPLE_FIELDS.join(', ')}`, {
      where: 'fileDataset',
    })
  }
  const explicit = new Map(
    given.flatMap(([field, source]) => (source === undefined ? [] : [[field, source]])),
  )
  const taken = new Set([...explicit.values()].flat())
  const own = SAMPLE_FIELDS.filter((field) => !explicit.has(field) && !taken.has(field))
  return new Map([...explicit, ...own.map((field) => [field, field] as const)])
}

function refuseUnknownFields(record: DatasetRecord, mapped: ReadonlySet<string>, where: string): void {
  const unknown = Object.keys(record).filter((name) => !mapped.has(name))
  if (unknown.length === 0) return
  const names = unknown.map((name) => `'${name}'`).join(', ')
  throw new ConfigError(
    `unknown field ${names}; expected ${[...mapped].join(', ')}, or a mapping of it in \`fields\``,
    { where },
  )
}

function collected(record: DatasetRecord, names: readonly string[]): DatasetRecord {
  const entries = names.map((name) => [name, record[name]] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

const JSON_FIELDS: readonly string[] = ['files', 'tests', 'choices', 'metadata', 'sandbox']

/** `sandbox` may also be plain text such as `docker:compose.yaml`. */
function structured(field: string, value: unknown, where: string): unknown {
  if (typeof value !== 'string' || !JSON_FIELDS.includes(field)) return value
  if (field === 'sandbox' && !value.trimStart().startsWith('{')) return value
  try {
    return JSON.parse(value)
  } catch (cause) {
    throw new ConfigError(`field '${field}': expected JSON text: ${errorMessage(cause)}`, { where, cause })
  }
}
