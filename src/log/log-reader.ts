import { createReadStream } from 'node:fs'
import { ConfigError, errorMessage } from '../errors.ts'
import { type LogRecord, logRecordSchema } from './records.ts'

/** Streams the records of a log. A torn last line, as a crash leaves it, is left out. @throws ConfigError on anything else that is no record */
export async function* readLog(path: string): AsyncGenerator<LogRecord> {
  let held: { line: string; number: number } | undefined
  let number = 0
  for await (const line of lines(path)) {
    number++
    if (held) yield parsed(held, path)
    held = line === '' ? undefined : { line, number }
  }
  if (!held) return
  const record = parsedOrTorn(held, path)
  if (record) yield record
}

async function* lines(path: string): AsyncGenerator<string> {
  let line = ''
  try {
    for await (const chunk of createReadStream(path, 'utf8')) {
      const [end = '', ...starts] = String(chunk).split('\n')
      line += end
      for (const start of starts) {
        yield line
        line = start
      }
    }
  } catch (error) {
    throw new ConfigError(`cannot read the log: ${errorMessage(error)}`, { where: path, cause: error })
  }
  if (line !== '') yield line
}

function parsed(held: { line: string; number: number }, path: string): LogRecord {
  const where = `${path}:${held.number}`
  const result = logRecordSchema.safeParse(parsedJson(held.line, where))
  if (result.success) return result.data
  throw new ConfigError(`not a belljar log record: ${result.error.issues[0]?.message ?? 'unknown'}`, {
    where,
  })
}

function parsedJson(line: string, where: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new ConfigError('not a line of JSON; is this a belljar log?', { where, cause: error })
  }
}

function parsedOrTorn(held: { line: string; number: number }, path: string): LogRecord | undefined {
  if (held.number > 1 && !isJson(held.line)) return undefined
  return parsed(held, path)
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
