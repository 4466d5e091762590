import { describe, expect, it } from 'vitest'
import { hasHealthCheck, healthDeadlineMs, mergedHealth } from '../../../src/sandbox/health-wait.ts'

const second = 1e9
const Test = ['CMD', 'true']

describe('healthDeadlineMs', () => {
  it.each([
    ['the engine`s defaults', { Test }, 180_000],
    ['10s, 1s, 5', { Test, Interval: 10 * second, Timeout: second, Retries: 5 }, 55_000],
    ['fractions', { Test, Interval: 0.25 * second, Timeout: 0.5 * second, Retries: 4 }, 3_000],
    ['720 retries', { Test, Interval: 5 * second, Timeout: 5 * second, Retries: 720 }, 7_200_000],
    [
      'a start period, whose last probe may run over',
      { Test, Interval: 2 * second, Timeout: 5 * second, Retries: 15, StartPeriod: 600 * second },
      710_000,
    ],
    ['zero, which means the default', { Test, Interval: 0, Timeout: 0, Retries: 0, StartPeriod: 0 }, 180_000],
  ])('follows %s', (_, health, expected) => {
    expect(healthDeadlineMs(health)).toBe(expected)
  })

  it.each([[undefined], [{}], [{ Test: [] }], [{ Test: ['NONE'] }], [{ Interval: second }]])(
    'knows none for %j',
    (health) => {
      expect(healthDeadlineMs(health)).toBeUndefined()
    },
  )
})

describe('mergedHealth', () => {
  it('keeps the image`s test where the container only sets numbers', () => {
    const merged = mergedHealth({ Test, Interval: second, Retries: 9 }, { Interval: 7 * second })
    expect(merged).toMatchObject({ Test, Interval: 7 * second, Retries: 9 })
    expect(hasHealthCheck(merged)).toBe(true)
  })

  it('is off where the container turns it off', () => {
    expect(hasHealthCheck(mergedHealth({ Test }, { Test: ['NONE'] }))).toBe(false)
  })

  it('is the other where one is missing', () => {
    expect(mergedHealth({ Test }, undefined)).toEqual({ Test })
    expect(mergedHealth(undefined, { Test })).toEqual({ Test })
  })
})
