import { describe, expect, it } from 'vitest'
import { ProgressState } from '../../../src/cli/show/progress-state.ts'
import { leftMessage, summary } from '../../../src/cli/show/summary.ts'
import type { FooterRecord, HeaderRecord } from '../../../src/log/records/records.ts'
import type { RunEvent } from '../../../src/run/run-event.ts'
import { sampleRecord } from '../../support/log-records.ts'
import { leftObject } from '../../support/sandbox-parts.ts'

const header = (name: string) => ({ task: { name } }) as HeaderRecord

const footer = (more: Partial<FooterRecord> = {}): FooterRecord => ({
  type: 'footer',
  status: 'success',
  completedAt: '2026-01-02T03:04:05.678Z',
  totals: { total: 4, success: 3, error: 1, limit: 0, cancelled: 0 },
  scores: [],
  sourceEnded: true,
  ...more,
})

describe('the summary of an eval', () => {
  it('has its outcome, its totals and a table of its metrics', () => {
    const metrics = [
      { name: 'accuracy', value: 2 / 3 },
      { name: 'stderr', value: null },
    ]
    const scores = [{ scorer: 'exact', scored: 3, unscored: 1, metrics }]
    expect(summary({ header: header('shell'), footer: footer({ scores }) }).split('\n')).toEqual([
      'shell: success (4 of 4 ended, 3 ok, 1 error)',
      'scorer  metric    value  samples  unscored',
      '------  --------  -----  -------  --------',
      'exact   accuracy  0.667  3        1',
      'exact   stderr    -      3        1',
    ])
  })

  it('has the reason of a failure, made harmless', () => {
    const error = { kind: 'agent' as const, code: 'boom', message: 'broken\u001b[2J' }
    const totals = { total: 5, success: 1, error: 1, limit: 1, cancelled: 1 }
    expect(summary({ header: header('a\u001bb'), footer: footer({ status: 'error', error, totals }) })).toBe(
      'a\\u001bb: error (4 of 5 ended, 1 ok, 1 error, 1 limit, 1 cancelled)\n  broken\\u001b[2J',
    )
  })

  it('says how much was taken over from the log that it resumes', () => {
    const totals = { total: 2, success: 2, error: 0, limit: 0, cancelled: 0, reused: 1 }
    expect(summary({ header: header('a'), footer: footer({ totals }) })).toBe(
      'a: success (2 of 2 ended, 2 ok, 1 taken over)',
    )
  })

  it('says that a log has no end', () => {
    expect(summary({ header: header('shell'), footer: undefined })).toBe(
      'shell: unfinished (the log has no end)',
    )
  })

  it('names what was left with the command that removes it', () => {
    expect(leftMessage([leftObject('stuck')])).toBe(
      'not removed; remove by hand:\n  container stuck (device busy)\n    docker rm -fv stuck',
    )
  })
})

describe('progress', () => {
  const told = (...events: unknown[]) => {
    const state = new ProgressState()
    for (const event of events) state.take(event as RunEvent)
    return state.lines()
  }
  const phase = (id: number, name: string) => ({ type: 'sample-phase', task: 't', id, epoch: 1, phase: name })
  const added = { type: 'samples-added', task: 't', total: 3 }

  it('counts what is done and says what goes on', () => {
    const end = { type: 'sample-end', task: 't', record: sampleRecord({ id: 1, status: 'error' }) }
    expect(told(added, phase(1, 'agent'), phase(2, 'wait'), phase(3, 'agent'))).toEqual([
      't: 0 of 3 done; now: agent 2, wait 1',
    ])
    expect(told(added, phase(1, 'agent'), phase(2, 'agent'), end)).toEqual([
      't: 1 of 3 done; 1 with errors; now: agent 1',
    ])
  })

  it('counts what will not be run apart', () => {
    const abandoned = { type: 'sample-abandoned', task: 't', id: 2, epoch: 1, why: 'drained' }
    expect(told(added, phase(1, 'agent'), phase(2, 'wait'), abandoned)).toEqual([
      't: 0 of 3 done; 1 abandoned; now: agent 1',
    ])
  })

  it('is silent about tasks that have ended', () => {
    expect(told(added, { type: 'eval-end', task: 't' })).toEqual([])
  })
})
