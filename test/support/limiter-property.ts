import fc, { type Scheduler } from 'fast-check'
import { expect } from 'vitest'
import { Limiter } from '../../src/limit/limiter.ts'
import { drain, turn } from './drain.ts'

interface User {
  readonly group: string
  readonly aborts: boolean
  readonly releases: 1 | 2
}

const user = fc.record<User>({
  group: fc.constantFrom('a', 'b', 'c'),
  aborts: fc.boolean(),
  releases: fc.constantFrom(1, 2),
})

class Model {
  readonly limiter: Limiter
  readonly asked: number[] = []
  readonly granted: number[] = []
  readonly ended: number[] = []
  readonly #scheduler: Scheduler
  #holders = 0
  /** What holders there are may not grow beyond: the limit, or what a lowered limit left to those who hold. */
  #ceiling: number

  constructor(scheduler: Scheduler, limit: number) {
    this.#scheduler = scheduler
    this.limiter = new Limiter(limit)
    this.#ceiling = limit
  }

  resize(limit: number): void {
    this.limiter.limit = limit
    this.#ceiling = Math.max(limit, this.limiter.held)
  }

  async use(index: number, { group, aborts, releases }: User): Promise<void> {
    const stop = new AbortController()
    await turn(this.#scheduler, `${index} asks`)
    this.asked.push(index)
    if (aborts) void turn(this.#scheduler, `${index} is aborted`).then(() => stop.abort(new Error('aborted')))
    const slot = await this.limiter.acquire({ group, signal: stop.signal }).catch(() => undefined)
    if (!slot) return void this.ended.push(index)
    this.granted.push(index)
    this.#holders++
    expect(this.#holders).toBeLessThanOrEqual(this.#ceiling)
    await turn(this.#scheduler, `${index} gives back`)
    this.#holders--
    for (let count = 0; count < releases; count++) slot.release()
    this.#ceiling = Math.max(this.limiter.limit, this.#holders)
  }
}

/** Whoever asks, is aborted, gives back or resizes in whatever order: never too many holders, nobody forgotten, groups in order. */
export const limiterProperty = fc.asyncProperty(
  fc.scheduler(),
  fc.array(user, { minLength: 1, maxLength: 12 }),
  fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
  async (scheduler, users, [first = 1, ...limits]) => {
    const model = new Model(scheduler, first)
    const all = users.map((one, index) => model.use(index, one))
    const resizing = limits.map(async (limit) => {
      await turn(scheduler, `the limit becomes ${limit}`)
      model.resize(limit)
    })
    await drain(scheduler)
    expect(model.granted.length + model.ended.length).toBe(users.length)
    await Promise.all([...all, ...resizing])
    expect(model.ended.every((index) => users[index]?.aborts)).toBe(true)
    expect([model.limiter.held, model.limiter.waiting]).toEqual([0, 0])
    for (const group of ['a', 'b', 'c']) {
      const served = (index: number) => users[index]?.group === group && model.granted.includes(index)
      expect(model.granted.filter(served)).toEqual(model.asked.filter(served))
    }
  },
)
