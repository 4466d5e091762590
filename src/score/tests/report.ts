import { readCtrf } from './ctrf.ts'
import { readJunit } from './junit.ts'
import { readTap } from './tap.ts'
import { ReportError, type TestResult } from './test-result.ts'

/** `junit`: JUnit XML; `tap`: TAP; `ctrf`: JSON with a list of tests, as CTRF has it. */
export type ReportFormat = 'junit' | 'tap' | 'ctrf'

const READERS: Readonly<Record<ReportFormat, (text: string) => TestResult[]>> = {
  junit: readJunit,
  tap: readTap,
  ctrf: readCtrf,
}

/** The tests of a report, one at least. Left out, the format is told by its first sign. @throws ReportError */
export function readReport(text: string, format: ReportFormat = formatOf(text)): TestResult[] {
  const tests = READERS[format](text)
  if (tests.length === 0) throw new ReportError('it has no test')
  return tests
}

function formatOf(text: string): ReportFormat {
  const begin = text
    .slice(0, 1000)
    .trimStart()
    .replace(/^\uFEFF/u, '')
  if (begin === '') throw new ReportError('it is empty')
  if (begin.startsWith('<')) return 'junit'
  return begin.startsWith('{') ? 'ctrf' : 'tap'
}
