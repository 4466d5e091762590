import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readSample } from '../../src/log/read/log-reader.ts'
import { tempDir } from '../support/temp-dir.ts'

it('a sample with 50 MB of tool output is logged in less than 500 MB of memory, and is read back whole', async () => {
  await using directory = await tempDir()
  const jiti = join(import.meta.dirname, '../../node_modules/jiti/lib/jiti-cli.mjs')
  const script = join(import.meta.dirname, '../support/large-sample.ts')
  const { log, bytes, peak } = JSON.parse(
    execFileSync(process.execPath, [jiti, script, directory.path], { encoding: 'utf8' }),
  )
  expect(bytes).toBeGreaterThan(50e6)
  expect(peak).toBeLessThan(500e6)
  const { record } = await readSample(log, { id: '1', epoch: 1 })
  expect(record.messages.reduce((sum, { content }) => sum + content.length, 0)).toBe(bytes)
})
