import { outputTail } from '../../agent/output-text.ts'
import { ConfigError } from '../../errors.ts'
import type { ScorerCommand } from '../command.ts'
import type { Score, Scorer, ScorerContext } from '../scorer.ts'
import { type ReportFormat, readReport } from './report.ts'
import {
  checkedPaths,
  lateScore,
  noResultScore,
  runFacts,
  runVerifier,
  type VerifierOptions,
  type VerifierRun,
  whyMissing,
} from './run-verifier.ts'
import { ReportError, type TestResult } from './test-result.ts'

type Names = readonly string[]

export interface TestSuiteOptions extends VerifierOptions {
  /** Absolute path, or paths, of what the tests write; left out: the command's standard output. */
  readonly report?: string | readonly string[]
  /** Left out: told by the report's first sign. */
  readonly format?: ReportFormat
  /** `all` (default): 1 when every test passed, else 0. `share`: the share that passed. */
  readonly score?: 'all' | 'share'
  /** The tests that count; one that was skipped, or that the report does not have, has failed. Left out: those of the report. */
  readonly only?: Names | ((context: ScorerContext) => Names)
}

/** So many tests are kept in the score's metadata, those that failed first. */
const MAX_KEPT = 1000
const NAMES_SHOWN = 10

/**
 * Runs tests in the sandbox and judges by their report: JUnit XML, TAP, or JSON with a list of tests (CTRF). Skipped tests count for nothing.
 * Reports that were there before the command began are removed first, and only regular files that it wrote count. A missing or garbled
 * report, or one without a test that counts, is what `noResult` says. The exit code judges nothing.
 */
export function testSuite(argv: ScorerCommand, options: TestSuiteOptions = {}): Scorer {
  const { name = 'test_suite', report = [], score = 'all' } = options
  const paths = checkedPaths([report].flat(), `scorer ${name}`)
  if (score !== 'all' && score !== 'share')
    throw new ConfigError(`expected 'all' or 'share', got '${score}'`, { where: `scorer ${name}` })
  return {
    name,
    needsSandbox: true,
    async score(context): Promise<Score | null> {
      const run = await runVerifier(argv, context, { ...options, name, paths })
      if ('late' in run) return lateScore(run)
      const { only } = options
      const names = typeof only === 'function' ? only(context) : only
      const tests = testsOf(run, { names, format: options.format })
      if (typeof tests === 'string') return noResultScore(tests, { name, noResult: options.noResult, run })
      return verdict(tests, { run, score })
    },
  }
}

/** The tests that count, or why there are none. */
function testsOf(
  run: VerifierRun,
  { names, format }: { names: Names | undefined; format: ReportFormat | undefined },
): TestResult[] | string {
  const { files, result } = run
  const written = files.flatMap((file) => (file.kind === 'written' ? [file] : []))
  if (files.length > 0 && written.length < files.length)
    return whyMissing(files.filter(({ kind }) => kind !== 'written'))
  if (files.length === 0 && result.truncated) return 'the output is too long for a report'
  const reports = files.length === 0 ? [{ path: 'the output', text: result.stdout }] : written
  const tests: TestResult[] = []
  for (const { path, text } of reports) {
    try {
      tests.push(...readReport(text, format))
    } catch (error) {
      if (error instanceof ReportError) return `${path} cannot be read: ${error.message}`
      throw error
    }
  }
  const counted = names ? named(tests, names) : tests
  return counted.some(({ status }) => status !== 'skipped') ? counted : 'no test was run, all were skipped'
}

/** By name, or by the part of it after its suite or class. */
function named(tests: readonly TestResult[], names: Names): TestResult[] {
  return names.map((name) => {
    const found = tests.filter(
      (test) => test.name === name || /[.>:] ?$/u.test(prefixOf(test.name, name) ?? ''),
    )
    const worst = found.find(({ status }) => status !== 'passed') ?? found[0]
    if (!worst) return { name, status: 'failed', message: 'not in the report' }
    return worst.status === 'skipped'
      ? { ...worst, name, status: 'failed', message: 'skipped' }
      : { ...worst, name }
  })
}

function prefixOf(full: string, name: string): string | undefined {
  return full.endsWith(name) ? full.slice(0, full.length - name.length) : undefined
}

function verdict(
  tests: readonly TestResult[],
  { run, score }: { run: VerifierRun; score: 'all' | 'share' },
): Score {
  const failed = tests.filter(({ status }) => status === 'failed')
  const passed = tests.filter(({ status }) => status === 'passed')
  const skipped = tests.length - failed.length - passed.length
  const share = passed.length / (passed.length + failed.length)
  const ordered = [...failed, ...tests.filter(({ status }) => status !== 'failed')]
  return {
    value: score === 'share' ? share : Number(failed.length === 0),
    explanation: [summaryOf(passed.length, failed, skipped), failed.length > 0 ? outputTail(run.result) : '']
      .filter(Boolean)
      .join('\n'),
    metadata: {
      passed: passed.length,
      failed: failed.length,
      skipped,
      ...runFacts(run),
      tests: ordered.slice(0, MAX_KEPT),
      ...(ordered.length > MAX_KEPT && { testsLeftOut: ordered.length - MAX_KEPT }),
    },
  }
}

function summaryOf(passed: number, failed: readonly TestResult[], skipped: number): string {
  const counts = `${passed} of ${passed + failed.length} passed${skipped > 0 ? `, ${skipped} skipped` : ''}`
  if (failed.length === 0) return counts
  const names = failed.slice(0, NAMES_SHOWN).map(({ name }) => name)
  const more = failed.length > NAMES_SHOWN ? ` and ${failed.length - NAMES_SHOWN} more` : ''
  return `${counts}; failed: ${names.join(', ')}${more}`
}
