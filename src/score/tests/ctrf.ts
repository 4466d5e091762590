import { z } from 'zod'
import { addTest, ReportError, type TestResult, type TestStatus } from './test-result.ts'

/** Format: ctrf.io, `results.tests`; `{ tests: [...] }` alone is read too. */
const testSchema = z.object({
  name: z.string(),
  status: z.string(),
  suite: z.union([z.string(), z.array(z.string())]).optional(),
  message: z.string().optional(),
  duration: z.number().optional(),
})
const reportSchema = z.union([
  z.object({ results: z.object({ tests: z.array(testSchema) }) }).transform(({ results }) => results.tests),
  z.object({ tests: z.array(testSchema) }).transform(({ tests }) => tests),
])

const STATUSES: Readonly<Record<string, TestStatus>> = {
  passed: 'passed',
  pass: 'passed',
  xfail: 'passed',
  failed: 'failed',
  fail: 'failed',
  error: 'failed',
  xpass: 'failed',
  other: 'failed',
  skipped: 'skipped',
  pending: 'skipped',
}

/** Reads a JSON report of tests. @throws ReportError */
export function readCtrf(text: string): TestResult[] {
  const parsed = reportSchema.safeParse(parsedJson(text))
  if (!parsed.success) throw new ReportError('it has no list of tests with a name and a status each')
  const tests: TestResult[] = []
  for (const { name, status, suite, message, duration } of parsed.data) {
    const known = Object.hasOwn(STATUSES, status.toLowerCase()) ? STATUSES[status.toLowerCase()] : undefined
    if (!known)
      throw new ReportError(`a test has the status ${JSON.stringify(status.slice(0, 100))}, which is none`)
    const full = [suite ?? [], name]
      .flat()
      .filter((part) => part !== '')
      .join(' > ')
    addTest(tests, { name: full, status: known, message, durationMs: duration })
  }
  return tests
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/u, ''))
  } catch {
    throw new ReportError('it is no whole JSON')
  }
}
