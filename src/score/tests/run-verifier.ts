import { outputTail } from '../../agent/output-text.ts'
import { BelljarError, ConfigError, ExecTimeoutError, type PartialOutput } from '../../errors.ts'
import type { ExecResult, Sandbox } from '../../sandbox/sandbox.ts'
import { definedOnly } from '../../util/defined-only.ts'
import type { CommandOptions, ScorerCommand } from '../command.ts'
import type { Score, ScorerContext } from '../scorer.ts'
import { type ResultFile, ResultFiles } from './result-files.ts'

/** What becomes of a sample whose verifier left no result that can be read: an error (default), unscored, or 0. */
export type NoResult = 'error' | 'unscored' | 'zero'

export interface VerifierOptions extends Omit<CommandOptions, 'parse' | 'timeoutMs'> {
  /** Deadline in milliseconds (default 600,000). One that passed is a score of 0. */
  readonly timeoutMs?: number
  /** Default `error`. */
  readonly noResult?: NoResult
}

const DEFAULT_TIMEOUT_MS = 600_000

export interface VerifierRun {
  readonly result: ExecResult
  /** By path, in the order in which they were named. */
  readonly files: readonly ResultFile[]
  /** Results that were there before the verifier began: somebody else's. */
  readonly planted: readonly string[]
}

/** A verifier that was not done in time. */
export interface LateVerifier {
  readonly late: PartialOutput
  readonly timeoutMs: number
}

/** Runs a verifier's command where nothing is at the places of its results. @throws BelljarError `scorer-failed` when it cannot be started */
export async function runVerifier(
  argv: ScorerCommand,
  context: ScorerContext,
  options: VerifierOptions & { readonly name: string; readonly paths: readonly string[] },
): Promise<VerifierRun | LateVerifier> {
  const { name, paths, service, user, cwd, env, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  const { signal } = context
  const sandbox: Sandbox = service === undefined ? context.sandbox : context.service(service)
  const results = new ResultFiles({ sandbox, paths, user, signal })
  const planted = await results.clear()
  const given = typeof argv === 'function' ? await argv(context) : argv
  const execOptions = { timeoutMs, signal, ...definedOnly({ user, cwd, env }) }
  try {
    const result = await sandbox.exec(given, execOptions)
    if (result.launchError !== undefined)
      throw failed(name, `cannot start ${JSON.stringify(given)}: ${result.launchError.message}`)
    const files: ResultFile[] = []
    for (const path of paths) files.push(await results.read(path))
    return { result, files, planted }
  } catch (error) {
    if (error instanceof ExecTimeoutError) return { late: error.partial, timeoutMs }
    throw error
  }
}

export function lateScore({ late, timeoutMs }: LateVerifier): Score {
  const notice = `not done after ${timeoutMs / 1000} seconds`
  return { value: 0, explanation: [notice, outputTail(late)].filter(Boolean).join('\n') }
}

/** A verifier that left nothing to judge by. @throws BelljarError `scorer-failed`, as the options say */
export function noResultScore(
  why: string,
  { name, noResult = 'error', run }: { name: string; noResult?: NoResult; run: VerifierRun },
): Score {
  const explanation = [why, outputTail(run.result)].filter(Boolean).join('\n')
  if (noResult === 'error') throw failed(name, explanation)
  return { value: noResult === 'zero' ? 0 : Number.NaN, explanation, metadata: runFacts(run) }
}

export function runFacts({ result, planted, files }: VerifierRun): Record<string, unknown> {
  const refused = files.flatMap((file) =>
    file.kind === 'refused' ? [{ path: file.path, why: file.why }] : [],
  )
  return {
    exitCode: result.exitCode,
    ...(planted.length > 0 && { planted }),
    ...(refused.length > 0 && { refused }),
  }
}

/** Why none of the results counts. */
export function whyMissing(files: readonly ResultFile[]): string {
  const reasons = files.map((file) =>
    file.kind === 'refused' ? `${file.path} does not count: ${file.why}` : `${file.path} was not written`,
  )
  return reasons.join('; ')
}

/** @throws ConfigError */
export function checkedPaths(paths: readonly string[], where: string): readonly string[] {
  const wrong = paths.find(
    (path) => !path.startsWith('/') || path.endsWith('/') || path.split('/').includes('..'),
  )
  if (wrong !== undefined)
    throw new ConfigError(`expected the absolute path of a file, got '${wrong}'`, { where })
  return paths
}

function failed(name: string, what: string): BelljarError {
  return new BelljarError('scorer-failed', `scorer '${name}': ${what}`)
}
