import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fifo } from '../../../src/util/fifo.ts'

describe('a fifo', () => {
  it('hands out what was pushed, in order, like an array would', () => {
    const action = fc.oneof(
      fc.nat(1500).map((count) => ({ push: count })),
      fc.nat(1500).map((count) => ({ shift: count })),
    )
    fc.assert(
      fc.property(fc.array(action, { maxLength: 8 }), (actions) => {
        const fifo = new Fifo<number>()
        const model: number[] = []
        let next = 0
        for (const one of actions) {
          if ('push' in one) {
            const items = Array.from({ length: one.push }, () => next++)
            fifo.push(...items)
            model.push(...items)
          } else {
            const taken = Array.from({ length: one.shift }, () => fifo.shift())
            expect(taken.filter((item) => item !== undefined)).toEqual(model.splice(0, one.shift))
          }
          expect(fifo.size).toBe(model.length)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('is empty after it was cleared, and takes more', () => {
    const fifo = new Fifo<string>()
    fifo.push('a', 'b')
    fifo.shift()
    fifo.clear()
    expect([fifo.size, fifo.shift()]).toEqual([0, undefined])
    fifo.push('c')
    expect(fifo.shift()).toBe('c')
  })
})
