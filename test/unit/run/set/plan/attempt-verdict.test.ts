import { describe, expect, it } from 'vitest'
import type { ErrorRecord, FooterRecord } from '../../../../../src/log/records/records.ts'
import { attemptVerdict, isLasting } from '../../../../../src/run/set/plan/attempt-verdict.ts'
import { retryPauseMs } from '../../../../../src/run/set/plan/retry-pause.ts'
import { footerRecord } from '../../../../support/log-records.ts'

const error = (more: Partial<ErrorRecord> = {}): ErrorRecord => ({
  kind: 'agent',
  code: 'error',
  message: 'broke',
  ...more,
})
const lasting = error({ kind: 'config', code: 'config', message: 'no such image' })
const totals = (more: Partial<FooterRecord['totals']>) => ({ ...footerRecord().totals, ...more })

describe('an attempt at a task of a set', () => {
  it.each<[string, Partial<FooterRecord>, ErrorRecord[], string]>([
    ['ended well', {}, [], 'complete'],
    ['spent its limits', { totals: totals({ success: 0, limit: 1 }) }, [], 'complete'],
    ['tolerates an error that may pass', { totals: totals({ success: 0, error: 1 }) }, [error()], 'again'],
    ['tolerates an error that stays', { totals: totals({ success: 0, error: 1 }) }, [lasting], 'failed'],
    ['has both', { totals: totals({ success: 0, error: 2, total: 2 }) }, [error(), lasting], 'again'],
    ['failed by one that may pass', { status: 'error', error: error() }, [error()], 'again'],
    ['failed by one that stays', { status: 'error', error: lasting }, [lasting], 'failed'],
    [
      'failed by its source, beside one that stays',
      { status: 'error', error: error({ kind: 'source', code: 'error' }) },
      [lasting],
      'again',
    ],
    [
      'says no more than that one was too many',
      { status: 'error', error: error({ kind: 'internal', code: 'config' }) },
      [lasting],
      'failed',
    ],
    [
      'has another image',
      { status: 'error', error: error({ kind: 'config', code: 'resume-config' }) },
      [],
      'failed',
    ],
    ['has no reason', { status: 'error' }, [], 'again'],
    ['did not reach the end of its source', { sourceEnded: false }, [], 'again'],
    ['was cancelled', { status: 'cancelled' }, [error()], 'stopped'],
    [
      'was drained by an operator',
      { stopped: 'drain', totals: totals({ success: 0, abandoned: 1 }) },
      [],
      'stopped',
    ],
    [
      'was failed by an operator',
      { status: 'error', stopped: 'error' },
      [error({ kind: 'operator' })],
      'stopped',
    ],
    ['left samples out', { totals: totals({ success: 0, abandoned: 1 }) }, [], 'stopped'],
  ])('that %s', (_what, footer, sampleErrors, expected) => {
    const verdict = attemptVerdict({ footer: footerRecord(footer), sampleErrors, stopsEarly: false })
    expect(verdict.kind).toBe(expected)
  })

  it('is complete where its task stops early on purpose', () => {
    const footer = footerRecord({ totals: totals({ success: 0, abandoned: 1 }) })
    expect(attemptVerdict({ footer, sampleErrors: [], stopsEarly: true }).kind).toBe('complete')
  })

  it('waits for a run of its own where a sandbox configuration failed, which a run does not try twice', () => {
    const unready = error({ kind: 'config', code: 'sandbox-init', transient: true })
    const footer = footerRecord({ totals: totals({ success: 0, error: 1 }) })
    const verdict = attemptVerdict({ footer, sampleErrors: [unready], stopsEarly: false })
    expect(verdict).toMatchObject({ kind: 'again', inNewRun: true })
  })

  it('says what went wrong', () => {
    const footer = footerRecord({
      status: 'error',
      error: error({ kind: 'source', message: 'source broke' }),
    })
    expect(attemptVerdict({ footer, sampleErrors: [], stopsEarly: false })).toEqual({
      kind: 'again',
      why: 'source broke',
      inNewRun: false,
    })
  })
})

describe('an error', () => {
  it.each<[string, Partial<ErrorRecord>, boolean]>([
    ['of an agent', {}, false],
    ['of a sandbox that died', { kind: 'sandbox', code: 'sandbox-unavailable' }, false],
    ['of a build that is wrong', { kind: 'config', code: 'sandbox-init', transient: false }, true],
    ['of a registry that did not answer', { kind: 'config', code: 'sandbox-init', transient: true }, false],
    ['of a full disk', { kind: 'config', code: 'disk-full' }, false],
    ['of a key that is refused', { code: 'model-authentication', transient: false }, true],
    ['of a model that nobody has', { code: 'model-not-found', transient: false }, true],
    ['of a provider that is overloaded', { code: 'model-overloaded', transient: true }, false],
    ['of a provider, of which nobody knows more', { code: 'model-other', transient: false }, false],
    ['of a configuration', { kind: 'config', code: 'config' }, true],
    ['of an operator', { kind: 'operator' }, true],
    ['of a duplicate id', { kind: 'source', code: 'duplicate-sample' }, true],
  ])('%s', (_what, more, expected) => {
    expect(isLasting(error(more))).toBe(expected)
  })
})

it('pauses double, up to an hour', () => {
  expect([1, 2, 3, 8, 9, 40].map((attempt) => retryPauseMs(attempt, 30_000) / 1000)).toEqual([
    30, 60, 120, 3600, 3600, 3600,
  ])
  expect(retryPauseMs(3, 0)).toBe(0)
})
