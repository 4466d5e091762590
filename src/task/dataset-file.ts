import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError, errorMessage } from '../errors.ts'
import type { InputPart } from '../sample/input.ts'
import { parseSample, type Sample, type SampleFiles } from '../sample/sample.ts'
import { type DatasetFields, fieldReader } from './dataset-fields.ts'
import { DATASET_FORMATS, type DatasetFormat, readRecords } from './dataset-records.ts'

/** Samples in a file, read when a task starts. */
export interface DatasetFile {
  /**
   * Reads, maps and checks every record. Relative `{ path }` entries of `files` and `tests` start at the data file's folder and come back absolute.
   * @param directory absolute folder of the task file, where a relative path of the data file starts
   * @throws ConfigError that names file, line (where the format has lines) and field
   */
  load(directory: string): Promise<Sample[]>
  /** What the log calls it. */
  readonly info?: DatasetInfo
}

/** Which data they are; what is not known is left out. */
export interface DatasetInfo {
  readonly name?: string
  readonly split?: string
  readonly revision?: string
}

export interface DatasetFileOptions {
  /** Where each field of a sample is found in a record, or a function that makes the sample (default: under the sample's own field names). */
  readonly fields?: DatasetFields
  /** Default: by the file's extension (.jsonl, .ndjson, .json, .csv, .yaml, .yml). */
  readonly format?: DatasetFormat
  /** What the log calls the data set (default: the name of the file). */
  readonly name?: string
  readonly split?: string
  /** Such as a commit or a date. */
  readonly revision?: string
}

/**
 * Names a data file: JSON Lines, a JSON or YAML list, or CSV with a header. A path relative to the task file, an absolute one, or a file URL.
 * Fields that are null, or empty or NaN cells of a CSV file, are missing ones; a field that is neither a sample's nor mapped is an error.
 * @throws ConfigError for an unknown format or a mapping of a field that samples do not have
 */
export function fileDataset(path: string | URL, options: DatasetFileOptions = {}): DatasetFile {
  const given = path instanceof URL ? pathOfUrl(path) : path
  const format = options.format ?? formatOf(given)
  const read = fieldReader(options.fields ?? {}, { jsonCells: format === 'csv' })
  const { name = basename(given), split, revision } = options
  return {
    info: { name, split, revision },
    async load(directory) {
      const file = resolve(directory, given)
      const records = readRecords(await readTextFile(file), { file, format })
      if (records.length === 0) throw new ConfigError('has no samples', { where: file })
      return records.map(({ fields, where }) =>
        withAbsolutePaths(parseSample(read(fields, where), where), dirname(file)),
      )
    },
  }
}

function pathOfUrl(url: URL): string {
  if (url.protocol === 'file:') return fileURLToPath(url)
  throw new ConfigError(`expected a path or a file: URL, got '${url}'`, { where: 'fileDataset' })
}

const FORMATS: Readonly<Record<string, DatasetFormat>> = {
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'json',
  '.csv': 'csv',
  '.yaml': 'yaml',
  '.yml': 'yaml',
}

function formatOf(path: string): DatasetFormat {
  const format = FORMATS[extname(path).toLowerCase()]
  if (format !== undefined) return format
  throw new ConfigError(
    `cannot tell the format by the extension; expected one of ${Object.keys(FORMATS).join(', ')}, or \`format\` as one of ${DATASET_FORMATS.join(', ')}`,
    { where: path },
  )
}

/** Without byte order mark; lines end in \n. */
async function readTextFile(file: string): Promise<string> {
  let bytes: Uint8Array
  try {
    bytes = await readFile(file)
  } catch (cause) {
    throw new ConfigError(`cannot read the data file: ${errorMessage(cause)}`, { where: file, cause })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n')
  } catch (cause) {
    throw new ConfigError('is not UTF-8 text', { where: file, cause })
  }
}

function withAbsolutePaths(sample: Sample, folder: string): Sample {
  const { files, tests, input } = sample
  return {
    ...sample,
    ...(typeof input === 'string' ? {} : { input: input.map((part) => absolutePart(part, folder)) }),
    ...(files && { files: absoluteFiles(files, folder) }),
    ...(tests && { tests: absoluteFiles(tests, folder) }),
  }
}

function absolutePart(part: InputPart, folder: string): InputPart {
  return part.type !== 'text' && part.path !== undefined
    ? { ...part, path: resolve(folder, part.path) }
    : part
}

function absoluteFiles(files: SampleFiles, folder: string): SampleFiles {
  const entries = Object.entries(files).map(([target, content]) => {
    const fromFile = typeof content === 'object' && 'path' in content
    return [target, fromFile ? { path: resolve(folder, content.path) } : content] as const
  })
  return Object.fromEntries(entries)
}

export function isDatasetFile(value: unknown): value is DatasetFile {
  return typeof value === 'object' && value !== null && 'load' in value && typeof value.load === 'function'
}
