import { describe, expect, it } from 'vitest'
import type { ListedLog } from '../../../../../src/log/read/list-logs.ts'
import type { HeaderRecord } from '../../../../../src/log/records/records.ts'
import { checkForeign, sortLogs } from '../../../../../src/run/set/plan/set-logs.ts'
import { setTaskOf } from '../../../../../src/run/set/plan/set-task.ts'
import { taskFromCode } from '../../../../../src/task/load-tasks.ts'
import { fakeTask, sample } from '../../../../support/fake-run.ts'
import { headerRecord } from '../../../../support/log-records.ts'

const task = await setTaskOf(
  taskFromCode(fakeTask({ name: 'a', dataset: [sample('x')] })),
  undefined,
  (value) => value,
)

interface LogFacts {
  readonly status?: ListedLog['status']
  readonly from?: readonly string[]
  readonly day?: number
}

function log(name: string, { status = 'success', from = [], day = 1 }: LogFacts = {}): ListedLog {
  const link = { run: 'r', createdAt: '2026-01-01T00:00:00Z', belljar: '0.1.0' }
  const header: HeaderRecord = headerRecord({
    eval: name,
    createdAt: `2026-01-0${day}T00:00:00Z`,
    task: { name: 'a', parameters: {} },
    identity: { ...identity(), id: task.id },
    ...(from.length > 0 && { lineage: from.map((id) => ({ ...link, eval: id })) }),
  })
  return { path: `logs/${name}.eval`, status, header }
}

function identity(): NonNullable<HeaderRecord['identity']> {
  return { id: 'x', dataset: { kind: 'fixed', count: 1, digest: '' }, scorers: [], parameters: {} }
}

const order = (logs: readonly ListedLog[]) =>
  sortLogs(logs, [task])
    .byKey.get(task.key)
    ?.map(({ header }) => header.eval)

describe('the logs of a folder', () => {
  it.each<[string, ListedLog[], string]>([
    ['the only one', [log('a')], 'a'],
    ['the newest', [log('b', { day: 2 }), log('a', { day: 1 })], 'b'],
    ['one that ended well, rather than a newer one', [log('a'), log('b', { status: 'error', day: 2 })], 'a'],
    [
      'one that goes on from another, though that ended well',
      [log('a'), log('b', { status: 'unfinished', from: ['a'] })],
      'b',
    ],
    [
      'the last of a chain',
      [log('c', { from: ['a', 'b'], status: 'error' }), log('b', { from: ['a'] }), log('a')],
      'c',
    ],
  ])('are gone on from %s', (_what, logs, expected) => {
    expect(order(logs)?.at(-1)).toBe(expected)
    expect(order([...logs].reverse())?.at(-1)).toBe(expected)
  })

  it('are foreign where they are of no task or cannot be read, and empty where a run was killed before its header', () => {
    const other = { ...log('b'), header: headerRecord({ task: { name: 'b', parameters: {} } }) }
    const broken: ListedLog = { path: 'logs/c.eval', status: 'unreadable', problem: 'no ZIP' }
    const empty: ListedLog = { path: 'logs/d.journal.jsonl', status: 'unfinished', problem: 'no header' }
    const sorted = sortLogs([log('a'), other, broken, empty], [task])
    expect(sorted.byKey.get(task.key)).toHaveLength(1)
    expect(sorted.foreign).toEqual([other, broken])
    expect(sorted.empty).toEqual([empty])
    expect(() => checkForeign(sorted.foreign, 'logs')).toThrow(
      'logs: holds logs that are of no task of the set:\n  b.eval: of b\n  c.eval: no ZIP\nGive the set a folder of its own',
    )
    expect(() => checkForeign([], 'logs')).not.toThrow()
  })
})
