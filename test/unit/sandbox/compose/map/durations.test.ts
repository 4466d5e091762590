import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseGoDuration } from '../../../../../src/sandbox/compose/map/durations.ts'

describe('parseGoDuration', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['1s', 1e9],
    ['1m30s', 90e9],
    ['0.5s', 5e8],
    ['1.5h', 5_400e9],
    ['1h2m3s4ms5us6ns', 3_723_004_005_006],
    ['100µs', 100_000],
    ['.25s', 25e7],
    ['2.s', 2e9],
  ])('reads %s', (written, expected) => {
    expect(parseGoDuration(written, 'here')).toBe(expected)
  })

  it.each(['', 's', '10', '-1s', '1 s', '1s1', '1x', '1e3s', '999999999h'])(
    'refuses %j and says where it stands',
    (written) => {
      expect(() => parseGoDuration(written, 'services.db.healthcheck.interval')).toThrow(
        `services.db.healthcheck.interval: expected a duration such as 1m30s, got '${written}'`,
      )
    },
  )

  it('adds up its parts', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.nat(5_000), fc.nat(100_000), (hours, minutes, milliseconds) => {
        const parsed = parseGoDuration(`${hours}h${minutes}m${milliseconds}ms`, 'here')
        expect(parsed).toBe(hours * 3600e9 + minutes * 60e9 + milliseconds * 1e6)
      }),
    )
  })
})
