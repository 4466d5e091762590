import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { engineCalls } from './engine-calls.ts'
import type { ReaperMessage } from './messages.ts'
import { reap } from './reap.ts'
import { RunState } from './run-state.ts'

/**
 * Outlives a run that dies: learns from the end of its input that the run is gone, and removes what is left of it.
 * A run that ends by itself says so.
 */
async function main(): Promise<boolean> {
  process.title = 'belljar-reaper'
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
  const state = new RunState()
  for await (const line of createInterface({ input: process.stdin })) {
    state.take(JSON.parse(line) as ReaperMessage)
    if (state.left) return true
  }
  const clock = { now: () => performance.now(), sleep: (ms: number) => sleep(ms) }
  const results = await Promise.all(
    [...state.engines.values()].map((engine) =>
      reap(engineCalls(engine, state.run), { kept: state.kept, inFlight: state.inFlight(engine.id) }, clock),
    ),
  )
  return results.every((done) => done)
}

process.exit((await main()) ? 0 : 1)
