import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { AgentContext } from './agent.ts'

const current = new AsyncLocalStorage<string>()

/** The span that the calling code runs in; the log puts each event into its own. */
export function currentSpan(): string | undefined {
  return current.getStore()
}

/** Groups in the log what `work` does, under a name: a sub-agent, a stage of the work. Spans nest. */
export async function span<T>(
  name: string,
  { transcript }: Pick<AgentContext, 'transcript'>,
  work: () => Promise<T>,
): Promise<T> {
  const id = randomUUID()
  const parent = currentSpan()
  return await current.run(id, async () => {
    transcript.record({ type: 'span-begin', startedMs: Date.now(), id, name, ...(parent && { parent }) })
    try {
      return await work()
    } finally {
      transcript.record({ type: 'span-end', startedMs: Date.now(), id })
    }
  })
}
