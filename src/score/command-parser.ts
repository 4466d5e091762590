import { endOf, outputTail } from '../agent/output-text.ts'
import { BelljarError } from '../errors.ts'
import type { ExecResult } from '../sandbox/sandbox.ts'
import type { Score, ScorerContext } from './scorer.ts'

export type CommandParser =
  | 'exit-code'
  | 'number'
  | ((result: ExecResult, context: ScorerContext) => Score | number | null | Promise<Score | number | null>)

export interface ParseOptions {
  readonly parse: CommandParser
  /** The scorer's, for errors. */
  readonly name: string
  readonly context: ScorerContext
}

/** The score of a command that ran. @throws BelljarError `scorer-failed` when there is no number to read */
export async function parseResult(result: ExecResult, options: ParseOptions): Promise<Score | null> {
  const { parse, name, context } = options
  if (typeof parse === 'function') {
    const parsed = await parse(result, context)
    if (typeof parsed !== 'number') return parsed
    if (Number.isFinite(parsed)) return { value: parsed, explanation: explain(result) }
    throw unreadable(result, `a number from its \`parse\` function, got ${parsed}`, name)
  }
  if (parse === 'exit-code' || result.signal !== null) {
    return { value: result.exitCode === 0 ? 1 : 0, explanation: explain(result) }
  }
  return { value: lastNumber(result, name), explanation: explain(result) }
}

function explain(result: ExecResult): string {
  return [endOf(result), outputTail(result)].filter(Boolean).join('\n')
}

function lastNumber(result: ExecResult, name: string): number {
  const line = result.stdout.trim().split('\n').at(-1)?.trim() ?? ''
  const number = line === '' ? Number.NaN : Number(line)
  if (Number.isFinite(number)) return number
  throw unreadable(
    result,
    `a number on the last line of the output, got ${JSON.stringify(line.slice(0, 200))}`,
    name,
  )
}

function unreadable(result: ExecResult, expected: string, name: string): BelljarError {
  return new BelljarError('scorer-failed', `scorer '${name}' expected ${expected} (${explain(result)})`)
}
