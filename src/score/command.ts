import { outputTail } from '../agent/output-text.ts'
import { BelljarError, ExecTimeoutError } from '../errors.ts'
import type { ExecResult } from '../sandbox/sandbox.ts'
import { type CommandParser, parseResult } from './command-parser.ts'
import type { Score, Scorer, ScorerContext } from './scorer.ts'

export type ScorerCommand =
  | readonly string[]
  | ((context: ScorerContext) => readonly string[] | Promise<readonly string[]>)

export interface CommandOptions {
  /** How the result becomes a score (default `exit-code`). */
  readonly parse?: CommandParser
  /** Default `command`. */
  readonly name?: string
  /** Service to run in; default: the sandbox's default service. */
  readonly service?: string
  readonly user?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Deadline in milliseconds (default 600,000). */
  readonly timeoutMs?: number
}

const DEFAULT_TIMEOUT_MS = 600_000

/**
 * Judges by a command in the sandbox: 1 when it exits with 0, else 0; or by the number on the last line of its standard output; or by a
 * function of its result. A deadline that passed is a score of 0. A command that cannot be started or whose number cannot be read is an
 * error (BelljarError `scorer-failed`), since it says nothing about the agent.
 */
export function command(argv: ScorerCommand, options: CommandOptions = {}): Scorer {
  const {
    name = 'command',
    parse = 'exit-code',
    service,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    ...execOptions
  } = options
  return {
    name,
    needsSandbox: true,
    async score(context): Promise<Score | null> {
      const sandbox = service === undefined ? context.sandbox : context.service(service)
      const given = typeof argv === 'function' ? await argv(context) : argv
      let result: ExecResult
      try {
        result = await sandbox.exec(given, { ...execOptions, timeoutMs, signal: context.signal })
      } catch (error) {
        if (error instanceof ExecTimeoutError) return deadlineScore(error)
        throw error
      }
      if (result.launchError !== undefined) {
        const problem = `cannot start ${JSON.stringify(given)}: ${result.launchError.message}`
        throw new BelljarError('scorer-failed', `scorer '${name}' ${problem}`)
      }
      return await parseResult(result, { parse, name, context })
    },
  }
}

function deadlineScore({ timeoutMs, partial }: ExecTimeoutError): Score {
  const notice = `not done after ${timeoutMs / 1000} seconds`
  return { value: 0, explanation: [notice, outputTail(partial)].filter(Boolean).join('\n') }
}
