import { FakeSandbox } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import type { FileEntry, FileStat } from '../../../src/sandbox/sandbox.ts'
import type { Scorer } from '../../../src/score/scorer.ts'
import { type RewardFileOptions, rewardFile } from '../../../src/score/tests/reward-file.ts'
import { type TestSuiteOptions, testSuite } from '../../../src/score/tests/test-suite.ts'
import { scorerContext } from '../../support/agent-context.ts'

type Files = Map<string, Uint8Array>
const bytes = (text: string) => new TextEncoder().encode(text)

/** A sandbox whose files have the time that `clock` shows when they are written, unless `times` says another. */
class TimedSandbox extends FakeSandbox {
  clock = 1000
  readonly times = new Map<string, number>()
  readonly links = new Set<string>()

  override async stat(path: string): Promise<FileStat> {
    return { ...(await super.stat(path)), modifiedMs: this.times.get(path) ?? this.clock }
  }

  override async list(path: string): Promise<FileEntry[]> {
    const entries = await super.list(path)
    return entries.map((entry) =>
      this.links.has(`${path}/${entry.name}`) ? { ...entry, type: 'link' as const } : entry,
    )
  }
}

function sandboxOf(run: (files: Files) => { stdout?: string; exitCode?: number } | void): TimedSandbox {
  return new TimedSandbox('default', (_command, _options, files) => run(files))
}

const judge = (scorer: Scorer, sandbox: FakeSandbox) => scorer.score(scorerContext({ sandbox }))
const suite = (options: TestSuiteOptions = {}) => testSuite(['run'], options)
const TAP = 'ok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP\nok 4 - d\n1..4'

describe('testSuite', () => {
  it('is 1 when all tests passed, by the output or by a file', async () => {
    expect(
      await judge(
        suite(),
        sandboxOf(() => ({ stdout: 'ok 1\n1..1', exitCode: 3 })),
      ),
    ).toMatchObject({
      value: 1,
      explanation: '1 of 1 passed',
      metadata: { passed: 1, failed: 0, exitCode: 3 },
    })
    const written = sandboxOf(
      (files) => void files.set('/out/r.xml', bytes('<testsuite><testcase name="a"/></testsuite>')),
    )
    expect(await judge(suite({ report: '/out/r.xml' }), written)).toMatchObject({ value: 1 })
  })

  it('is 0 or a share when some failed, and says which', async () => {
    const sandbox = () => sandboxOf(() => ({ stdout: TAP }))
    const all = await judge(suite(), sandbox())
    expect(all).toMatchObject({ value: 0, metadata: { passed: 2, failed: 1, skipped: 1 } })
    expect(all?.explanation).toContain('2 of 3 passed, 1 skipped; failed: b')
    expect(all?.metadata?.tests).toMatchObject([{ name: 'b', status: 'failed' }, {}, {}, {}])
    expect((await judge(suite({ score: 'share' }), sandbox()))?.value).toBeCloseTo(2 / 3)
  })

  it('adds up several reports, all of which have to be there', async () => {
    const both = { report: ['/o/1.tap', '/o/2.tap'] }
    const write = (paths: string[]) =>
      sandboxOf((files) => paths.forEach((path) => void files.set(path, bytes('ok 1\n1..1'))))
    expect(await judge(suite(both), write(both.report))).toMatchObject({ metadata: { passed: 2 } })
    await expect(judge(suite(both), write(['/o/1.tap']))).rejects.toThrow('/o/2.tap was not written')
  })

  it('judges by the tests that are named, of which those that are absent or skipped have failed', async () => {
    const stdout = JSON.stringify({
      tests: [
        { name: 'm.TestA.test_one', status: 'passed' },
        { name: 'm.TestA.test_two', status: 'failed' },
        { name: 'm.TestA.test_four', status: 'skipped' },
      ],
    })
    const only = (names: string[]) =>
      judge(
        suite({ only: names }),
        sandboxOf(() => ({ stdout })),
      )
    expect(await only(['m.TestA.test_one'])).toMatchObject({ value: 1 })
    expect(await only(['test_one'])).toMatchObject({ value: 1 })
    expect(await only(['one'])).toMatchObject({ value: 0 })
    expect(await only(['test_one', 'test_four'])).toMatchObject({ value: 0 })
    expect(await only(['test_one', 'test_three'])).toMatchObject({
      value: 0,
      metadata: { tests: [{ name: 'test_three', message: 'not in the report' }, {}] },
    })
  })

  it.each([
    ['no report', {}, 'was not written'],
    ['a report that was cut short', { '/r': '<testsuite><testcase' }, 'cannot be read: it is no whole XML'],
    ['a report of nothing but skipped tests', { '/r': 'ok 1 # SKIP\n1..1' }, 'all were skipped'],
  ])('%s is an error, unscored or 0, as asked for', async (_name, files: Record<string, string>, why) => {
    const run = () =>
      sandboxOf((made) => {
        for (const [path, text] of Object.entries(files)) made.set(path, bytes(text))
      })
    await expect(judge(suite({ report: '/r' }), run())).rejects.toThrow(why)
    const unscored = await judge(suite({ report: '/r', noResult: 'unscored' }), run())
    expect(unscored?.value).toBeNaN()
    expect(unscored?.explanation).toContain(why)
    expect(await judge(suite({ report: '/r', noResult: 'zero' }), run())).toMatchObject({ value: 0 })
  })

  it('does not read what was there before, and says that it was', async () => {
    const planted = sandboxOf(() => undefined)
    planted.files.set('/r', bytes('ok 1\n1..1'))
    await expect(judge(suite({ report: '/r' }), planted)).rejects.toThrow('/r was not written')
    const honest = sandboxOf((files) => void files.set('/r', bytes('not ok 1\n1..1')))
    honest.files.set('/r', bytes('ok 1\n1..1'))
    expect(await judge(suite({ report: '/r' }), honest)).toMatchObject({
      value: 0,
      metadata: { planted: ['/r'] },
    })
  })

  it('refuses a link and a file from before the verifier began', async () => {
    const write = (files: Files) => void files.set('/o/r', bytes('ok 1\n1..1'))
    const linked = sandboxOf(write)
    linked.links.add('/o/r')
    await expect(judge(suite({ report: '/o/r' }), linked)).rejects.toThrow('it is a link, expected a file')
    const old = sandboxOf(write)
    old.times.set('/o/r', 999)
    await expect(judge(suite({ report: '/o/r' }), old)).rejects.toThrow(
      'older than the begin of the verifier',
    )
  })

  it.each(['report.xml', '/a/../b', '/a/'])('refuses the path %s', (report) => {
    expect(() => suite({ report })).toThrow('expected the absolute path of a file')
  })
})

describe('rewardFile', () => {
  const [JSON_FILE, TEXT_FILE] = ['/logs/verifier/reward.json', '/logs/verifier/reward.txt'] as const
  const reward = (files: Record<string, string>, options?: RewardFileOptions) =>
    judge(
      rewardFile(['run'], options),
      sandboxOf((made) => {
        for (const [path, text] of Object.entries(files)) made.set(path, bytes(text))
      }),
    )

  it.each([
    [{ [TEXT_FILE]: '0.5\n' }, 0.5],
    [{ [TEXT_FILE]: '1' }, 1],
    [{ [JSON_FILE]: '{"reward": 0.25, "speed": 3}' }, 0.25],
    [{ [JSON_FILE]: '{"speed": 3}' }, 3],
    [{ [JSON_FILE]: '{"reward": 0}', [TEXT_FILE]: '1' }, 0],
  ])('%j is %d', async (files: Record<string, string>, value) => {
    expect(await reward(files)).toMatchObject({ value })
  })

  it('keeps all rewards, and scores by the one that is named', async () => {
    const files = { [JSON_FILE]: '{"speed": 3, "size": 2}' }
    expect(await reward(files, { key: 'size' })).toMatchObject({
      value: 2,
      metadata: { rewards: { speed: 3, size: 2 } },
    })
    await expect(reward(files)).rejects.toThrow('it has speed, size')
    await expect(reward(files, { key: 'other' })).rejects.toThrow("does not say the reward 'other'")
  })

  it.each<Record<string, string>>([
    {},
    { [TEXT_FILE]: '' },
    { [TEXT_FILE]: 'one' },
    { [TEXT_FILE]: 'NaN' },
    { [JSON_FILE]: '{"reward": "1"}' },
    { [JSON_FILE]: '[1]' },
  ])('%j is no reward, which is not 0', async (files: Record<string, string>) => {
    await expect(reward(files)).rejects.toMatchObject({ code: 'scorer-failed' })
    expect((await reward(files, { noResult: 'unscored' }))?.value).toBeNaN()
  })
})
