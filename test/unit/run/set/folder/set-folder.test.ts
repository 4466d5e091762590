import { readdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { removeDebris } from '../../../../../src/run/set/folder/debris.ts'
import { SetLock } from '../../../../../src/run/set/folder/set-lock.ts'
import { manifestName, readManifest, writeManifest } from '../../../../../src/run/set/folder/set-manifest.ts'
import { removeSuperseded } from '../../../../../src/run/set/folder/superseded.ts'
import { fakeTask, sample } from '../../../../support/fake-run.ts'
import { countingAgent, ResumeFolder } from '../../../../support/resume.ts'
import { tempDir } from '../../../../support/temp-dir.ts'

const part = (number: number, of = 3) => ({ number, of })

describe('the lock of a set', () => {
  it('lets one process run a set in a folder', async () => {
    await using folder = await tempDir()
    const lock = await SetLock.acquire(folder.path, undefined)
    await expect(SetLock.acquire(folder.path, undefined)).rejects.toThrow(
      `the set is being written by process ${process.pid}; wait for its end`,
    )
    await lock[Symbol.asyncDispose]()
    await using _again = await SetLock.acquire(folder.path, undefined)
  })

  it.each([
    ['another part', part(1), part(2), true],
    ['the same part', part(1), part(1), false],
    ['a part of another division', part(1), part(1, 2), false],
    ['the whole', part(1), undefined, false],
    ['a part, beside the whole', undefined, part(1), false],
  ])('beside %s', async (_what, first, second, isAllowed) => {
    await using folder = await tempDir()
    await using _lock = await SetLock.acquire(folder.path, first)
    const other = SetLock.acquire(folder.path, second)
    if (!isAllowed) await expect(other).rejects.toThrow('the set is being written by')
    else await (await other)[Symbol.asyncDispose]()
  })

  it('of a process that is gone is taken over; one that is refused leaves nothing', async () => {
    await using folder = await tempDir()
    const path = join(folder.path, 'belljar-set.json.lock')
    await writeFile(path, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), nonce: 'x' }))
    await using _lock = await SetLock.acquire(folder.path, undefined)
    await SetLock.acquire(folder.path, part(1)).catch(() => undefined)
    expect(await readdir(folder.path)).toEqual(['belljar-set.json.lock'])
  })
})

describe('the manifest of a set', () => {
  it('is written whole and read again, and a part has one of its own', async () => {
    await using folder = await tempDir()
    const task = {
      key: 'k',
      id: 'p/a',
      parameters: { shots: 3 },
      state: 'again',
      attempts: 2,
      why: 'x',
    } as const
    await writeManifest(folder.path, { set: 's', part: undefined, tasks: [task] })
    await writeManifest(folder.path, { set: 't', part: part(2), tasks: [] })
    expect((await readdir(folder.path)).sort()).toEqual(['belljar-set.2-of-3.json', 'belljar-set.json'])
    expect(await readManifest(folder.path, undefined)).toMatchObject({
      belljarSet: 1,
      set: 's',
      tasks: [task],
    })
    expect(await readManifest(folder.path, part(2))).toMatchObject({ set: 't', part: part(2) })
    expect(await readManifest(folder.path, part(1))).toBeUndefined()
  })

  it.each([
    ['no JSON', '{'],
    ['of another version', '{"belljarSet":2}'],
  ])('that is %s is refused, with what to do', async (_what, text) => {
    await using folder = await tempDir()
    await writeFile(join(folder.path, manifestName(undefined)), text)
    await expect(readManifest(folder.path, undefined)).rejects.toThrow(
      /belljar-set\.json: no manifest of a set that this version knows[\s\S]*; remove it/,
    )
  })
})

describe('a log that another one goes on from', () => {
  const two = [sample('a', { id: 'a' }), sample('b', { id: 'b' })]

  async function chain(folder: ResumeFolder) {
    const { agent } = countingAgent((id, time) => id === 'b' && time === 1)
    const task = fakeTask({ dataset: two, agent, failOnError: false })
    const first = await folder.run(task)
    const second = await folder.run(task, { resume: first.log })
    return { old: first.log, by: second.log, task }
  }

  it('is removed once the other has been read back', async () => {
    await using folder = await ResumeFolder.make()
    const { old, by } = await chain(folder)
    expect(await removeSuperseded([old], by)).toEqual({ removed: [old], kept: [] })
    expect(await folder.files()).toHaveLength(1)
  })

  it('stays where the other is damaged', async () => {
    await using folder = await ResumeFolder.make()
    const { old, by } = await chain(folder)
    const bytes = await readFile(by)
    bytes[200] = (bytes[200] ?? 0) ^ 0xff
    await writeFile(by, bytes)
    const { removed, kept } = await removeSuperseded([old], by)
    expect([removed, kept.map(({ log }) => log)]).toEqual([[], [old]])
    expect(await folder.files()).toHaveLength(2)
  })

  it('stays where a sample of it is not in the other', async () => {
    await using folder = await ResumeFolder.make()
    const { old, task } = await chain(folder)
    const unrelated = await folder.run(task)
    expect(await removeSuperseded([old], unrelated.log)).toEqual({
      removed: [],
      kept: [{ log: old, why: '1 of its samples are not in the log that goes on from it' }],
    })
  })

  it('stays where the other is not finished, and goes with its journal', async () => {
    await using folder = await ResumeFolder.make()
    const { old, by, task } = await chain(folder)
    const journal = await folder.killedAfter(task, 1)
    const { kept } = await removeSuperseded([old], journal)
    expect(kept[0]?.why).toContain('is not finished')
    const { removed } = await removeSuperseded([journal], by)
    expect(removed).toEqual([])
  })
})

describe('what killed writers have left', () => {
  const alive = JSON.stringify({ pid: process.pid, host: hostname(), nonce: 'x' })
  const gone = JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), nonce: 'x' })

  it('is removed, unless its writer may be alive', async () => {
    await using folder = await tempDir()
    const files: Record<string, string> = {
      'a.journal.jsonl.part': 'x',
      'a.journal.jsonl.lock': gone,
      'b.journal.jsonl.part': 'x',
      'b.journal.jsonl.lock': alive,
      'c.eval.part': 'x',
      'd.eval.part': 'x',
      'd.journal.jsonl.lock': alive,
      'e.eval': 'x',
      'e.eval.lock': gone,
      'f.eval.lock': '',
      'belljar-set.json.0a1b.part': 'x',
      'belljar-set.1-of-2.json.0a1b.part': 'x',
      'belljar-set.1-of-2.json.lock': alive,
      'notes.txt.part': 'x',
    }
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text)
    await removeDebris(folder.path, manifestName(undefined))
    const left = await readdir(folder.path)
    expect(Object.keys(files).filter((name) => !left.includes(name))).toEqual([
      'a.journal.jsonl.part',
      'a.journal.jsonl.lock',
      'c.eval.part',
      'belljar-set.json.0a1b.part',
    ])
  })
})
