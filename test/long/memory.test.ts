import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { tempDir } from '../support/temp-dir.ts'

const SAMPLES = 100_000
const MAX_RSS_MB = 300

/** A program of a user of the package as it is built: samples come by the thousand, and the log is as it is by default. */
const PROGRAM = `
import { defineTask, evaluate, SampleSource } from ${JSON.stringify(resolve('dist/index.js'))}
let given = 0
const dataset = SampleSource.fromSamples([], {
  nextSamples: async () => {
    if (given >= ${SAMPLES}) return null
    given += 1000
    return Array.from({ length: 1000 }, (_, index) => ({ input: 'sample ' + (given - 1000 + index) }))
  },
})
const { evals } = await evaluate(defineTask({ name: 'many', dataset, agent: 'nop', sandbox: false }), { logDir: process.argv[1] })
console.log(JSON.stringify({ totals: evals[0].footer.totals, rssKb: process.resourceUsage().maxRSS }))
`

it('a hundred thousand samples of a source leave the process small: what has ended is let go', async () => {
  await using directory = await tempDir()
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', PROGRAM, directory.path])
  const { totals, rssKb } = JSON.parse(stdout) as { totals: { success: number }; rssKb: number }
  expect(totals.success).toBe(SAMPLES)
  expect((rssKb * 1024) / 1e6).toBeLessThan(MAX_RSS_MB)
}, 900_000)
