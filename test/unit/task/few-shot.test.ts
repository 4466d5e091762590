import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  defineTask,
  type FewShotOptions,
  FewShotPoolError,
  type FewShots,
  fewShot,
  fileDataset,
  type HeaderRecord,
  type Sample,
} from 'belljar'
import { FakeProvider } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type FakeRun, fakeRun, sample } from '../../support/fake-run.ts'
import { tempDir } from '../../support/temp-dir.ts'

type Pool = Parameters<typeof fewShot>[0]

const POOL = Array.from({ length: 12 }, (_, index) => sample(`example ${index}`, { id: `e${index}` }))
const inSubject = (input: string, subject: string) => sample(input, { metadata: { subject } })

interface Shown {
  readonly run: FakeRun
  /** By input of the sample. */
  readonly prompts: Readonly<Record<string, readonly string[]>>
}

/** Runs a task whose agent notes the examples of each sample. */
async function shown(
  pool: Pool,
  options: FewShotOptions,
  {
    dataset = [sample('a')],
    ...given
  }: { dataset?: Sample[]; provider?: FakeProvider; logDir?: string } = {},
): Promise<Shown> {
  const prompts: Record<string, string[]> = {}
  const factory = defineTask(
    { name: 'shots', parameters: z.object({ nShot: z.number().default(5) }) },
    ({ nShot }) => {
      let shots: FewShots
      return {
        dataset,
        sandbox: { kind: 'fake' },
        setup: async () => {
          shots = await fewShot(pool, { ...options, n: nShot })
        },
        agent: async ({ sample: { input, metadata } }) => {
          prompts[input] = shots.for({ metadata }).map((example) => String(example.input))
        },
      }
    },
  )
  const run = await fakeRun(factory.create({ nShot: options.n }).task, given)
  return { run, prompts }
}

describe('fewShot', () => {
  it('shows as many as were asked for, and records that it did', async () => {
    const { run, prompts } = await shown(POOL.slice(0, 3), { n: 3 })
    expect(prompts.a).toEqual(['example 0', 'example 1', 'example 2'])
    expect((run.log[0] as HeaderRecord).identity?.parameters.nShot).toEqual({
      declared: 5,
      passed: 3,
      effective: 3,
      source: 'passed',
      verified: true,
    })
  })

  it('draws by the seed: the same one the same examples, fewer of them the first of more', async () => {
    const drawn = async (n: number, seed: number) => (await shown(POOL, { n, seed })).prompts.a!
    const eight = await drawn(8, 1)
    expect(await drawn(8, 1)).toEqual(eight)
    for (const n of [0, 1, 3]) expect(await drawn(n, 1)).toEqual(eight.slice(0, n))
    expect(await drawn(8, 2)).not.toEqual(eight)
    expect(new Set(eight).size).toBe(8)
  })

  it('shows each sample examples of its own group', async () => {
    const pool = [inSubject('1+1', 'maths'), inSubject('1492', 'history'), inSubject('2+2', 'maths')]
    const dataset = [inSubject('a', 'maths'), inSubject('b', 'history')]
    const { prompts } = await shown(pool, { n: 1, by: 'subject' }, { dataset })
    expect(prompts).toEqual({ a: ['1+1'], b: ['1492'] })
    const by = ({ metadata }: Pick<Sample, 'metadata'>) => metadata?.subject === 'maths'
    expect((await shown(pool, { n: 1, by }, { dataset })).prompts).toEqual(prompts)
  })

  it('needs no pool for no examples', async () => {
    const { run, prompts } = await shown(undefined, { n: 0, by: 'subject' })
    expect(prompts.a).toEqual([])
    expect((run.log[0] as HeaderRecord).identity?.parameters.nShot).toMatchObject({
      effective: 0,
      verified: true,
    })
  })

  const maths = inSubject('a', 'maths')
  it.each<[string, Pool, FewShotOptions, Sample, object]>([
    [
      'is too small',
      POOL.slice(0, 1),
      { n: 3, split: 'dev' },
      sample('a'),
      { asked: 3, have: 1, split: 'dev' },
    ],
    ['is missing', undefined, { n: 1 }, sample('a'), { asked: 1, have: 0 }],
    [
      'lacks a group that is run',
      [inSubject('x', 'art')],
      { n: 1, by: 'subject' },
      maths,
      { have: 0, group: 'maths' },
    ],
    [
      'is too small in a group that is not run',
      [inSubject('1', 'maths'), inSubject('2', 'maths'), inSubject('x', 'art')],
      { n: 2, by: 'subject' },
      maths,
      { asked: 2, have: 1, group: 'art' },
    ],
  ])(
    'ends a run whose pool %s before anything was logged or started',
    async (_what, pool, options, one, data) => {
      await using directory = await tempDir()
      const provider = new FakeProvider()
      const refused = await shown(pool, options, {
        dataset: [one],
        provider,
        logDir: directory.path,
      }).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(FewShotPoolError)
      expect(refused).toMatchObject({ code: 'few-shot-pool', ...data })
      expect([provider.calls, await readdir(directory.path)]).toEqual([[], []])
    },
  )

  it('reads a pool from a file, and calls it by its split', async () => {
    await using directory = await tempDir()
    const file = join(directory.path, 'dev.jsonl')
    await writeFile(file, '{"input": "from the file"}\n')
    const pool = fileDataset(file, { split: 'dev' })
    expect((await shown(pool, { n: 1 })).prompts.a).toEqual(['from the file'])
    await expect(shown(pool, { n: 2 })).rejects.toThrow("fewShot: 2 examples were asked for, 'dev' has 1;")
  })

  it.each([-1, 2.5, Number.NaN])('refuses %d of them', async (n) => {
    const task = defineTask({
      name: 'bad',
      dataset: [sample('a')],
      agent: 'nop',
      sandbox: false,
      setup: async () => void (await fewShot(POOL, { n })),
    })
    await expect(fakeRun(task)).rejects.toThrow(/fewShot: expected a whole number of examples from 0 on/)
  })

  it('names a sample that has no group, and says where it can be called', async () => {
    await expect(shown(POOL, { n: 1, by: 'subject' })).rejects.toThrow(
      `no 'subject' in the metadata of sample "e0"`,
    )
    await expect(fewShot(POOL, { n: 1 })).rejects.toThrow(/can only be called by the setup of a task/)
  })
})
