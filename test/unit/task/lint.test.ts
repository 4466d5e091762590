import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lintTasks } from '../../../src/task/lint/lint-tasks.ts'
import { tempDir } from '../../support/temp-dir.ts'

const HEAD = "import { defineTask, fewShot } from 'belljar'\nimport { z } from 'zod'\n"
const REPORTED = 'setup: async () => { await fewShot(pool, { n: nShot }) }'

/** A task module with such parameters and such a function. */
const task = (schema: string, build: string) =>
  `${HEAD}export default defineTask({ name: 't', parameters: z.object(${schema}) }, ${build})\n`

async function lint(files: Readonly<Record<string, string>>) {
  await using directory = await tempDir()
  for (const [name, text] of Object.entries(files)) {
    const file = join(directory.path, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  return await lintTasks(directory.path)
}

const messages = async (text: string) =>
  (await lint({ 'task.ts': text })).violations.map(({ line, message }) => `${line}: ${message}`)

describe('the lint of task modules', () => {
  it.each([
    ['no parameters', `${HEAD}export default defineTask({ name: 't', dataset: [], agent: 'nop' })`],
    ['a number of examples that is drawn', task('{ nShot: z.number() }', `({ nShot }) => ({ ${REPORTED} })`)],
    [
      'one under another name',
      task('{ nShot: z.number() }', '({ nShot: k }) => ({ setup: () => fewShot(pool, { n: k }) })'),
    ],
    [
      'one that is reported by hand',
      task('{ nShot: z.number() }', "(p) => ({ setup: ({ effective }) => effective('nShot', p.nShot) })"),
    ],
    [
      'their seed and split',
      task('{ fewshotSeed: z.number(), fewshot_split: z.string() }', '(p) => make(p)'),
    ],
    ['k of pass@k', task('{ k: z.number() }', "({ k }) => ({ epochs: k, reducers: ['pass_at_' + k] })")],
    [
      'a schema from the same module, typed and extended',
      `${HEAD}const base = z.object({ level: z.number() }) as z.ZodObject
const parameters = base.extend({ size: z.number() }).strict()
function build(given: { level: number; size: number }) { const { level } = given; return { a: level, b: given['size'] } }
export const one = defineTask({ name: 't', parameters } satisfies object, build)`,
    ],
  ])('is content with %s', async (_what, text) => {
    expect(await messages(text)).toEqual([])
  })

  it.each([
    [
      'another spelling',
      task('{ numShots: z.number() }', '({ numShots }) => ({ n: numShots })'),
      "3: parameter 'numShots': a number of examples is spelled 'nShot'",
    ],
    [
      'snake case',
      task('{ n_shot: z.number() }', '(p) => ({ n: p.n_shot })'),
      "3: parameter 'n_shot': a number of examples is spelled 'nShot'",
    ],
    [
      'a number of examples that is never reported',
      task('{ nShot: z.number() }', '({ nShot }) => ({ n: nShot })'),
      "3: parameter 'nShot' is never reported: draw by fewShot(pool, { n: nShot }), or call effective('nShot', ...)",
    ],
    [
      'a report in a comment alone',
      task('{ nShot: z.number() }', "({ nShot }) => ({ n: nShot /* effective('nShot', 1) */ })"),
      "3: parameter 'nShot' is never reported: draw by fewShot(pool, { n: nShot }), or call effective('nShot', ...)",
    ],
    [
      'k without pass@k',
      task('{ k: z.number() }', '/** pass@k */ ({ k }) => ({ epochs: k })'),
      "3: parameter 'k' is the k of pass@k, and nothing computes that",
    ],
    [
      'k as a number of examples',
      task('{ k: z.number() }', "({ k }) => ({ r: 'pass_at_2', s: () => fewShot(pool, { n: k }) })"),
      "3: parameter 'k' is no number of examples; that is 'nShot'",
    ],
    [
      'a parameter that nothing uses',
      task('{ a: z.number(), b: z.number() }', '({ a, b }) => ({ a, c: { b: 1 } })'),
      "3: parameter 'b' is declared and never used",
    ],
    [
      'a parameter that is not taken',
      task('{ a: z.number() }', '() => ({})'),
      "3: parameter 'a' is declared and never used",
    ],
    [
      'a parameter behind a rest',
      task('{ a: z.number(), b: z.number() }', '({ a, ...more }) => make(a, more)'),
      "3: parameter 'b' is hidden by a rest of the others",
    ],
    [
      'a default in the function',
      task('{ a: z.number().optional() }', '({ a = 3 }) => ({ a })'),
      "3: parameter 'a' has its default in the function, where no log sees it; give it in the schema",
    ],
    [
      'a parameter that is not declared',
      task('{ a: z.number() }', '({ a, bb }) => ({ a, bb })'),
      "3: parameter 'bb' is not declared",
    ],
    [
      'a report of one that is not declared',
      task('{ a: z.number() }', "({ a }) => ({ s: (c) => c.effective('b', a) })"),
      "3: effective('b'): there is no such parameter",
    ],
    [
      'a function from elsewhere',
      task('{ a: z.number() }', 'imported'),
      '3: its function comes from elsewhere, so its parameters cannot be checked',
    ],
  ])('objects to %s', async (_what, text, message) => {
    expect(await messages(text)).toEqual([message])
  })

  it('looks into nested folders, and not into those of others, tests and modules without tasks', async () => {
    const bad = task('{ a: z.number() }', '() => ({})')
    const { files, violations } = await lint({
      'deep/er/task.ts': bad,
      'node_modules/x/task.ts': bad,
      'task.test.ts': bad,
      'other.ts': "import { defineTask } from 'elsewhere'\ndefineTask({}, () => ({}))",
    })
    expect([files, violations]).toEqual([
      1,
      [{ file: 'deep/er/task.ts', task: 't', line: 3, message: expect.any(String) }],
    ])
  })

  it('counts what cannot be parsed, and says where there is nothing', async () => {
    expect((await lint({ 'task.ts': `${HEAD}export default defineTask({` })).violations).toMatchObject([
      { file: 'task.ts', message: expect.stringMatching(/^cannot be parsed: /) },
    ])
    expect(await lint({ 'other.ts': 'export const x = 1' })).toEqual({ files: 0, violations: [] })
  })

  it('runs nothing', async () => {
    const text = `${HEAD}throw new Error('run')\nexport default defineTask({ name: 't' })`
    expect((await lint({ 'task.ts': text })).violations).toEqual([])
  })
})
