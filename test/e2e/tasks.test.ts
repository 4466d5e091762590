import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cli } from '../support/cli.ts'
import { tempDir } from '../support/temp-dir.ts'

const TASK = (version: string) => `import { defineTask } from 'belljar'
export default defineTask({ name: 'small', version: '${version}', dataset: [{ input: 'x' }], agent: 'nop', sandbox: false })
`

describe('belljar tasks', () => {
  it('lists, writes the catalogue, notices when it is out of date, and lints', async () => {
    await using directory = await tempDir()
    await writeFile(join(directory.path, 'package.json'), '{ "name": "suite" }')
    await writeFile(join(directory.path, 'small.ts'), TASK('1'))
    const listed = await cli(['tasks', directory.path, '--json'])
    expect(JSON.parse(listed.stdout)).toMatchObject({ id: 'suite/small', version: '1', parameters: [] })
    expect((await cli(['tasks', directory.path, '--check'])).exitCode).toBe(2)
    expect((await cli(['tasks', directory.path, '--catalogue'])).exitCode).toBe(0)
    expect((await cli(['tasks', directory.path, '--check'])).exitCode).toBe(0)
    await writeFile(join(directory.path, 'small.ts'), TASK('2'))
    const stale = await cli(['tasks', directory.path, '--check'])
    expect(stale.exitCode).toBe(1)
    expect(stale.stderr).toMatch(/tasks\.json is out of date[\s\S]*suite\/small: has changed/)
    const linted = await cli(['tasks', directory.path, '--lint'])
    expect([linted.exitCode, linted.stderr]).toEqual([0, '1 module, 0 violations\n'])
  })
})
