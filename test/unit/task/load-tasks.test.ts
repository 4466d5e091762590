import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as belljar from 'belljar'
import { expect, it } from 'vitest'
import { loadTasks } from '../../../src/task/load-tasks.ts'
import { tempDir } from '../../support/temp-dir.ts'

// Task modules get this very object: another copy of belljar would know none of its tasks.
Object.assign(globalThis, { belljarUnderTest: belljar })

const FILES: Readonly<Record<string, string>> = {
  'belljar.cjs': 'module.exports = globalThis.belljarUnderTest',
  'shared.ts': 'export const shared = { time: Date.now(), mark: Math.random() }',
  ...Object.fromEntries(
    ['one', 'two'].map((name) => [
      `${name}.ts`,
      `import { defineTask } from 'belljar'
       import { shared } from './shared.ts'
       export default defineTask({ name: '${name}', dataset: [{ input: 'x' }], agent: 'nop', sandbox: false, metadata: shared })`,
    ]),
  ),
}

it('evaluates files anew where that is asked for, and what they share once', async () => {
  await using folder = await tempDir()
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder.path, name), text)
  const alias = { belljar: join(folder.path, 'belljar.cjs') }
  const load = async (fresh: boolean) => {
    const files = ['one.ts', 'two.ts'].map((name) => join(folder.path, name))
    const tasks = (await Promise.all(files.map((file) => loadTasks(file, { alias, fresh })))).flat()
    return tasks.map(({ task }) => task)
  }
  const [first, again, anew] = [await load(false), await load(false), await load(true)]
  expect(again).toEqual(first)
  expect(again[0]).toBe(first[0])
  expect(anew.map((task, index) => task === first[index])).toEqual([false, false])
  const marks = [first, anew].map((tasks) => tasks.map(({ definition }) => definition.metadata?.mark))
  expect(new Set(marks[0]).size).toBe(1)
  expect(new Set(marks[1]).size).toBe(1)
  expect(marks[0]?.[0]).not.toBe(marks[1]?.[0])
})
