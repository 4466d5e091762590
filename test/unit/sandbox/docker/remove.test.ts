import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Engine } from '../../../../src/sandbox/docker/engine/engine.ts'
import { removeObjects } from '../../../../src/sandbox/docker/remove.ts'

/** An engine that is slower the more it is asked for at once. */
function busyEngine() {
  const seen = { now: 0, most: 0 }
  const remove = async () => {
    seen.now += 1
    seen.most = Math.max(seen.most, seen.now)
    await sleep(seen.now)
    seen.now -= 1
  }
  const engine = { control: { getContainer: () => ({ remove }) }, openStreams: { retire: () => undefined } }
  return { seen, engine: engine as unknown as Engine }
}

test('however many sandboxes go at once, the engine is asked for some removals at a time, and waiting counts for none', async () => {
  const { seen, engine } = busyEngine()
  const sandbox = (index: number) =>
    ['a', 'b'].map((part) => ({ kind: 'container' as const, id: `${index}${part}`, name: `${index}${part}` }))
  const reports = await Promise.all(
    Array.from({ length: 100 }, (_, index) => removeObjects(engine, sandbox(index), { budgetMs: 2000 })),
  )
  expect(reports.every(({ removed, left }) => removed === 2 && left.length === 0)).toBe(true)
  expect(seen.most).toBe(16)
})
