export type TestStatus = 'passed' | 'failed' | 'skipped'

/** One test of a report. Text from a sandbox: escape before printing. */
export interface TestResult {
  readonly name: string
  readonly status: TestStatus
  readonly message?: string
  readonly durationMs?: number
}

/** A report that says nothing certain: cut short, of another form, or without a test. */
export class ReportError extends Error {
  override readonly name = 'ReportError'
}

export const MAX_TESTS = 100_000
const MAX_NAME = 300
const MAX_MESSAGE = 500

/** @throws ReportError when there are too many */
export function addTest(tests: TestResult[], test: TestResult): void {
  if (tests.length >= MAX_TESTS) throw new ReportError(`it names more than ${MAX_TESTS} tests`)
  const { name, message, status, durationMs } = test
  tests.push({
    name: shortened(name, MAX_NAME),
    status,
    ...(message !== undefined &&
      message.trim() !== '' && { message: shortened(message.trim(), MAX_MESSAGE) }),
    ...(durationMs !== undefined && Number.isFinite(durationMs) && { durationMs }),
  })
}

function shortened(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text
}
