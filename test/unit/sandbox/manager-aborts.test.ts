import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ManagerModel, type User } from '../../support/manager-property.ts'

const plain = { failure: 'none', aborts: false, forgets: false } as const
const USERS: readonly User[] = [
  { ...plain, image: 'flaky' },
  { ...plain, image: 'good', failure: 'starts' },
  { ...plain, image: 'good', failure: 'removal throws' },
  { ...plain, image: 'other', failure: 'removal leaves' },
  { ...plain, image: 'broken' },
  { ...plain, image: 'other', forgets: true },
  { ...plain, image: 'good' },
]

type Happening = (model: ManagerModel, stops: readonly AbortController[]) => void

/** So many awaits of the manager lie between two points, and more. */
const TICKS = 12

interface Moment {
  /** The point that something comes to, from 0. */
  readonly point: number
  /** How many awaits it has gone on from there. */
  readonly ticks: number
}

/** A run in which something happens at a moment. Returns how many points there were. */
async function runWith(happens: Happening, at?: Moment): Promise<number> {
  let points = 0
  const happenSoon = async (ticks: number) => {
    for (let tick = 0; tick < ticks; tick++) await undefined
    happens(model, stops)
  }
  const point = async () => {
    const isIt = points++ === at?.point
    await setImmediate()
    if (isIt) void happenSoon(at.ticks)
  }
  const stops = USERS.map(() => new AbortController())
  const model = new ManagerModel(point, USERS)
  model.come(stops)
  const idle = async () => {
    for (let seen = -1; seen !== points; ) {
      seen = points
      for (let turn = 0; turn < 20; turn++) await setImmediate()
    }
  }
  await idle()
  expect(await model.manager.shutdown()).toEqual([])
  await idle()
  model.check()
  return points
}

const abort = (stop: AbortController | undefined) => stop?.abort(new Error('aborted'))
const EVENTS = [
  ...USERS.map((_user, index) => ({
    what: `user ${index} is aborted`,
    happens: (_model: ManagerModel, stops: readonly AbortController[]) => abort(stops[index]),
  })),
  {
    what: 'all are aborted',
    happens: (_model: ManagerModel, stops: readonly AbortController[]) => stops.forEach(abort),
  },
  { what: 'the run ends', happens: ({ manager }: ManagerModel) => void manager.shutdown() },
]

it.each(EVENTS)(
  '$what, at each await: nothing is left and no slot is lost',
  { timeout: 60_000 },
  async ({ happens }) => {
    const all = await runWith(happens)
    expect(all).toBeGreaterThan(20)
    for (let point = 0; point < all; point++)
      for (let ticks = 0; ticks < TICKS; ticks++) await runWith(happens, { point, ticks })
  },
)
