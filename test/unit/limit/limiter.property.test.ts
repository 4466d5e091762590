import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FairQueue } from '../../../src/limit/fair-queue.ts'
import { limiterProperty } from '../../support/limiter-property.ts'

it('a limiter never grants too much, forgets nobody and keeps order, in any interleaving', async () => {
  await fc.assert(limiterProperty, { numRuns: 400 })
}, 60_000)

type Step = { readonly enqueue: string } | { readonly remove: number } | 'dequeue'

const step = fc.oneof(
  fc.record({ enqueue: fc.constantFrom('a', 'b', 'c') }),
  fc.record({ remove: fc.nat(20) }),
  fc.constant<Step>('dequeue'),
)

/** What the queue should do, written for clearness alone. */
class NaiveQueue {
  readonly waiting: { id: string; group: string }[] = []
  readonly #servedAt = new Map<string, number>()
  #time = 0

  next(): string | undefined {
    const served = ({ group }: { group: string }) => this.#servedAt.get(group) ?? 0
    const oldest = Math.min(...this.waiting.map(served))
    const index = this.waiting.findIndex((entry) => served(entry) === oldest)
    if (index < 0) return undefined
    const [entry] = this.waiting.splice(index, 1)
    if (entry) this.#servedAt.set(entry.group, ++this.#time)
    return entry?.id
  }
}

it('a fair queue hands out the longest unserved group, first come first served within it', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const queue = new FairQueue()
      const model = new NaiveQueue()
      const runs = new Map<unknown, string>()
      for (const [index, action] of steps.entries()) {
        if (action === 'dequeue') {
          expect(runs.get(queue.dequeue())).toBe(model.next())
        } else if ('enqueue' in action) {
          const run = async () => undefined
          runs.set(run, String(index))
          queue.enqueue(run, { id: String(index), group: action.enqueue })
          model.waiting.push({ id: String(index), group: action.enqueue })
        } else {
          queue.remove(String(action.remove))
          const found = model.waiting.findIndex(({ id }) => id === String(action.remove))
          if (found >= 0) model.waiting.splice(found, 1)
        }
        expect(queue.size).toBe(model.waiting.length)
      }
    }),
    {
      numRuns: 500,
      examples: [[[{ enqueue: 'c' }, { enqueue: 'a' }, { enqueue: 'c' }, { remove: 0 }, 'dequeue']]],
    },
  )
})
