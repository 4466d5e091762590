// Prints "PASSED FAILED SKIPPED" of a vitest JSON report. A file that failed as a whole counts as one failure.
import { readFileSync } from 'node:fs'

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const brokenFiles = report.testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
)
const failed = report.numFailedTests + brokenFiles.length
process.stdout.write(`${report.numPassedTests} ${failed} ${report.numPendingTests + report.numTodoTests}\n`)
