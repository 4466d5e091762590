import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatSubnet,
  freeSubnets,
  overlaps,
  parseSubnet,
  prefixLengthFor,
  type Subnet,
  uniqueLocalSubnet,
} from '../../../src/sandbox/subnets.ts'

const address = fc.nat(2 ** 32 - 1)

/** Mostly inside 10.192.0.0/12, where they matter. */
const used = fc.array(
  fc
    .tuple(
      fc.oneof(
        address,
        fc.nat(2 ** 20 - 1).map((low) => 10 * 2 ** 24 + 192 * 2 ** 16 + low),
      ),
      fc.integer({ min: 9, max: 32 }),
    )
    .map(([first, prefixLength]) =>
      formatSubnet({ first: first - (first % 2 ** (32 - prefixLength)), prefixLength }),
    ),
  { maxLength: 12 },
)

function subnet(written: string): Subnet {
  const parsed = parseSubnet(written)
  if (parsed === undefined) throw new Error(`not a subnet: ${written}`)
  return parsed
}

describe('parseSubnet', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['10.1.2.3/16', '10.1.0.0/16'],
    ['192.0.2.7', '192.0.2.7/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255/32', '255.255.255.255/32'],
  ])('reads %s as %s', (written, expected) => {
    expect(formatSubnet(subnet(written))).toBe(expected)
  })

  it.each(['', '10.0.0/8', '10.0.0.256/8', '10.0.0.0/33', 'fd00::/8', 'default'])(
    'does not read %j',
    (written) => {
      expect(parseSubnet(written)).toBeUndefined()
    },
  )
})

describe('freeSubnets', () => {
  it('gives only blocks of the range that touch nothing used, each once', () => {
    fc.assert(
      fc.property(used, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (taken, offset) => {
        const range = '10.192.0.0/16'
        const given = [...freeSubnets({ range, prefixLength: 26, used: taken, offset })]
        expect(new Set(given).size).toBe(given.length)
        for (const block of given.map(subnet)) {
          expect(overlaps(block, subnet(range)) && block.prefixLength === 26).toBe(true)
          expect(taken.some((other) => overlaps(block, subnet(other)))).toBe(false)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('leaves out no block that is free', () => {
    fc.assert(
      fc.property(used, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (taken, offset) => {
        const range = '10.192.0.0/20'
        const given = new Set(freeSubnets({ range, prefixLength: 28, used: taken, offset }))
        const all = [...freeSubnets({ range, prefixLength: 28, used: [], offset: 0 })]
        expect(all).toHaveLength(256)
        for (const block of all) {
          const free = !taken.some((other) => overlaps(subnet(block), subnet(other)))
          expect(given.has(block)).toBe(free)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('starts at the offset and wraps', () => {
    const given = [...freeSubnets({ range: '10.200.0.0/26', prefixLength: 28, used: [], offset: 0.5 })]
    expect(given).toEqual(['10.200.0.32/28', '10.200.0.48/28', '10.200.0.0/28', '10.200.0.16/28'])
  })

  it('passes over default routes, IPv6 and what it cannot read', () => {
    const given = freeSubnets({ prefixLength: 28, used: ['0.0.0.0/0', 'fd00::/64', 'default'], offset: 0 })
    expect(given.next().value).toBe('10.192.0.0/28')
  })

  it('ends at once where a route covers the whole range', () => {
    expect([...freeSubnets({ prefixLength: 28, used: ['10.0.0.0/8'], offset: 0.3 })]).toEqual([])
  })

  it.each(['10.0.0.0/29', 'nonsense', 'fd00::/8'])('refuses the range %s', (range) => {
    expect(() => freeSubnets({ range, prefixLength: 28, used: [], offset: 0 }).next()).toThrow(range)
  })
})

describe('prefixLengthFor', () => {
  it.each([
    [0, 28],
    [13, 28],
    [14, 27],
    [29, 27],
    [30, 26],
    [253, 24],
    [254, 23],
  ])('for %i containers is %i', (containers, expected) => {
    expect(prefixLengthFor(containers)).toBe(expected)
  })
})

it('makes a private IPv6 block of random bytes', () => {
  expect(uniqueLocalSubnet(Uint8Array.from([1, 2, 3, 4, 5, 0, 9]))).toBe('fd01:203:405:9::/64')
})
