import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as belljar from 'belljar'
import { ConfigError } from 'belljar'
import { describe, expect, it } from 'vitest'
import * as zod from 'zod'
import { catalogueOf, catalogueText, readCatalogue } from '../../../src/task/catalogue/catalogue.ts'
import { findTasks, loadNamed } from '../../../src/task/catalogue/find-tasks.ts'
import { tempDir } from '../../support/temp-dir.ts'

// Task modules get these very objects: another copy of belljar would know none of its tasks.
Object.assign(globalThis, { belljarUnderTest: belljar, zodUnderTest: zod })
const aliasIn = (directory: string) => ({
  belljar: join(directory, 'belljar.cjs'),
  zod: join(directory, 'zod.cjs'),
})
const HEAD = "import { defineTask, exact, fileDataset } from 'belljar'\nimport { z } from 'zod'\n"

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "suite" }',
  'belljar.cjs': 'module.exports = globalThis.belljarUnderTest',
  'zod.cjs': 'module.exports = globalThis.zodUnderTest',
  'tasks/shots.ts': `${HEAD}
export const shots = defineTask({ name: 'shots', version: '2', parameters: z.object({ nShot: z.number().int().default(5) }) },
  ({ nShot }) => ({ dataset: fileDataset('dev.jsonl', { split: 'dev' }), agent: 'nop', scorers: [exact()], tags: [String(nShot)] }))
export const needy = defineTask({ name: 'needy', parameters: z.object({ level: z.string() }) }, () => { throw new Error('not to be made') })`,
  'tasks/deep/er/task.ts': `${HEAD}export default defineTask({ dataset: [{ input: 'x' }], agent: 'nop', sandbox: false, status: 'experimental' })`,
  'helpers.ts': `${HEAD}export const make = () => defineTask({ dataset: [], agent: 'nop' })\nthrow new Error('is not to be loaded')`,
}

async function suite(more: Readonly<Record<string, string>> = {}) {
  const directory = await tempDir()
  for (const [name, text] of Object.entries({ ...FILES, ...more })) {
    const file = join(directory.path, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  return directory
}

describe('the tasks of a package', () => {
  it('are found in nested folders, by id, and loading what defines none is not needed for it', async () => {
    await using directory = await suite()
    const found = await findTasks(directory.path, { alias: aliasIn(directory.path) })
    expect(found.map(({ id }) => id)).toEqual(['suite/er', 'suite/needy', 'suite/shots'])
  })

  it.each(['shots', 'suite/shots'])('are loaded by name, alone, with their parameters: %s', async (name) => {
    await using directory = await suite()
    const loaded = await loadNamed(name, {
      directory: directory.path,
      parameters: { nShot: 3 },
      alias: aliasIn(directory.path),
    })
    expect(loaded.map((task) => [task.name, task.parameters])).toEqual([['shots', { nShot: 3 }]])
  })

  it('are named for their folder where they have no name', async () => {
    await using directory = await suite()
    const [task] = await loadNamed('er', { directory: directory.path, alias: aliasIn(directory.path) })
    expect([task?.name, task?.directory]).toEqual(['er', join(directory.path, 'tasks/deep/er')])
  })

  it('must have names of their own', async () => {
    await using directory = await suite({ 'other/er.ts': FILES['tasks/deep/er/task.ts']! })
    await expect(findTasks(directory.path, { alias: aliasIn(directory.path) })).rejects.toThrow(
      /two tasks have the id 'suite\/er': .*task\.ts|er\.ts/,
    )
    await expect(
      loadNamed('er', { directory: directory.path, alias: aliasIn(directory.path) }),
    ).rejects.toThrow(/er: several tasks have this name: other\/er\.ts, tasks\/deep\/er\/task\.ts/)
  })

  it('that are not there are an error', async () => {
    await using directory = await suite()
    await expect(
      loadNamed('none', { directory: directory.path, alias: aliasIn(directory.path) }),
    ).rejects.toThrow(/none: there is no such task file, and no task of this name here/)
    await expect(
      loadNamed('none.ts', { directory: directory.path, alias: aliasIn(directory.path) }),
    ).rejects.toBeInstanceOf(ConfigError)
  })
})

describe('the catalogue of a package', () => {
  it('says what its tasks declare', async () => {
    await using directory = await suite()
    const catalogue = await catalogueOf(
      directory.path,
      await findTasks(directory.path, { alias: aliasIn(directory.path) }),
    )
    expect(JSON.parse(catalogueText(catalogue))).toEqual({
      schema: 1,
      package: 'suite',
      tasks: [
        { id: 'suite/er', file: 'tasks/deep/er/task.ts', status: 'experimental' },
        {
          id: 'suite/needy',
          file: 'tasks/shots.ts',
          parameters: { level: { schema: expect.objectContaining({ type: 'string' }) } },
        },
        {
          id: 'suite/shots',
          file: 'tasks/shots.ts',
          version: '2',
          tags: ['5'],
          dataset: { name: 'dev.jsonl', split: 'dev' },
          scorers: ['exact'],
          parameters: {
            nShot: { declared: 5, schema: expect.objectContaining({ type: 'integer', default: 5 }) },
          },
        },
      ],
    })
  })

  it('is read back, and one of another schema is refused', async () => {
    await using directory = await suite()
    const file = join(directory.path, 'tasks.json')
    const catalogue = await catalogueOf(directory.path, [])
    await writeFile(file, catalogueText(catalogue))
    expect(await readCatalogue(file)).toEqual(catalogue)
    await writeFile(file, '{ "schema": 2 }')
    await expect(readCatalogue(file)).rejects.toThrow(
      /tasks\.json: a catalogue of schema 2; this belljar knows 1/,
    )
  })
})
