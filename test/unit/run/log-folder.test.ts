import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { FakeProvider } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import { EvalFile } from '../../../src/log/eval/file/eval-file.ts'
import { journalPathOf } from '../../../src/log/log-paths.ts'
import { evaluate } from '../../../src/run/evaluate.ts'
import { fakeTask, sample } from '../../support/fake-run.ts'
import { countingAgent } from '../../support/resume.ts'
import { tempDir } from '../../support/temp-dir.ts'

describe('a run whose log cannot be written', () => {
  it('fails before a sandbox is asked for or a sample is run', async () => {
    const { agent, calls } = countingAgent()
    const provider = new FakeProvider()
    const run = evaluate([fakeTask({ dataset: [sample('a')], agent })], {
      logDir: '/proc/no-such',
      providers: { fake: async () => provider },
    })
    await expect(run).rejects.toThrow(/cannot write the log: .*; name another folder with --log-dir/)
    expect([calls, provider.calls.filter((call) => call !== 'close')]).toEqual([[], []])
  })
})

describe('a log folder that may only be read', () => {
  it('is refused by name, and nothing is left in it', async () => {
    await using directory = await tempDir()
    await chmod(directory.path, 0o555)
    const jiti = join(import.meta.dirname, '../../../node_modules/jiti/lib/jiti-cli.mjs')
    const script = join(import.meta.dirname, '../../support/journal-writer.ts')
    // Root may write anywhere.
    const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const { status, stderr } = spawnSync(process.execPath, [jiti, script, directory.path], {
      ...other,
      encoding: 'utf8',
      env: { ...process.env, JITI_FS_CACHE: 'false' },
      timeout: 60_000,
    })
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/log\.journal\.jsonl: cannot write the log: EACCES: .*; name another folder/),
    ])
    expect(await readdir(directory.path)).toEqual([])
  }, 60_000)
})

describe('the header of a log', () => {
  it('is the same in the journal, at the start of the finished log and at its end', async () => {
    await using directory = await tempDir()
    let first = ''
    const { evals } = await evaluate([fakeTask({ dataset: [sample('a')] })], {
      logDir: directory.path,
      providers: { fake: async () => new FakeProvider() },
      onEvent: (event) => {
        if (event.type === 'eval-start') first = readFileSync(journalPathOf(event.log), 'utf8')
      },
    })
    const { crc: _crc, ...header } = JSON.parse(first.split('\n')[0] ?? '')
    await using file = await EvalFile.open(evals[0]!.log)
    expect([await file.startHeader(), await file.header()]).toEqual([header, header])
  })
})
