import { describe, expect, it } from 'vitest'
import { pauseAfter } from '../../../../src/agent/calls/retry.ts'
import { retryAfterMs } from '../../../../src/agent/providers/ai-sdk/retry-after.ts'
import { ModelError, type ModelErrorKind } from '../../../../src/errors.ts'

const failed = (kind: ModelErrorKind, more: { retryAfterMs?: number } = {}) =>
  new ModelError('no', { kind, model: 'm', ...more })
const pause = (error: unknown, attempt: number, maxRetries?: number) =>
  pauseAfter({ error, attempt, config: { maxRetries }, random: () => 0 })

describe('pauseAfter', () => {
  it('doubles with each failed attempt, up to a minute', () => {
    const pauses = [1, 2, 3, 6, 7, 10].map((attempt) => pause(failed('overloaded'), attempt))
    expect(pauses).toEqual([1000, 2000, 4000, 32_000, 60_000, 60_000])
  })

  it('is up to half shorter by chance', () => {
    const error = failed('overloaded')
    expect(pauseAfter({ error, attempt: 3, config: undefined, random: () => 0.99 })).toBe(2020)
  })

  it('is never less than the provider asks for, nor so long that nobody would wait', () => {
    expect(pause(failed('rate-limit', { retryAfterMs: 90_000 }), 1)).toBe(90_000)
    const error = failed('rate-limit', { retryAfterMs: 500 })
    expect(pauseAfter({ error, attempt: 1, config: undefined, random: () => 0.5 })).toBe(525)
    expect(pause(failed('rate-limit', { retryAfterMs: 3_600_000 }), 1)).toBeUndefined()
  })

  it('ends after so many attempts', () => {
    expect(pause(failed('timeout'), 10)).toBeDefined()
    expect(pause(failed('timeout'), 11)).toBeUndefined()
    expect(pause(failed('timeout'), 1, 0)).toBeUndefined()
    expect(pause(failed('response'), 2)).toBeDefined()
    expect(pause(failed('response'), 3)).toBeUndefined()
  })

  it.each(['authentication', 'not-found', 'context-length', 'request', 'other'] as const)(
    'is none for what cannot pass: %s',
    (kind) => expect(pause(failed(kind), 1)).toBeUndefined(),
  )

  it('knows broken connections by their code, however deep', () => {
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
    expect(pause(new TypeError('fetch failed', { cause: reset }), 1)).toBe(1000)
    expect(pause(Object.assign(new Error('no file'), { code: 'ENOENT' }), 1)).toBeUndefined()
  })
})

describe('retryAfterMs', () => {
  const now = () => Date.parse('2026-01-02T03:04:05Z')
  it.each([
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Fri, 02 Jan 2026 03:04:15 GMT' }, 10_000],
    [{ 'retry-after': 'Fri, 02 Jan 2026 03:00:00 GMT' }, 0],
    [{ 'retry-after': '9', 'retry-after-ms': '125' }, 125],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': '-3' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('of %j is %s', (headers, expected) => expect(retryAfterMs(headers, now)).toBe(expected))
})
