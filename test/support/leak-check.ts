import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { connectEngine, type Engine } from '../../src/sandbox/docker/engine/engine.ts'
import { OWNER_LABEL, RUN_LABEL } from '../../src/sandbox/docker/identity/labels.ts'
import { listObjects } from '../../src/sandbox/docker/remove.ts'

const objectsOfRuns = (engine: Engine) => listObjects(engine, { label: [RUN_LABEL] })

/** Fields of /proc/PID/stat from the state on; undefined when there is no such process. */
function processFacts(pid: number): { parent: number; start: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(fields[1]), start: fields[19] ?? '' }
  } catch {
    return undefined
  }
}

/** Whether an object is of a live process of this host that these tests did not start: somebody else's run. */
function isForeign(owner: string | undefined): boolean {
  const [host, pid, start] = (owner ?? '').split(':')
  let facts = processFacts(Number(pid))
  if (host !== hostname() || !facts || facts.start !== start || Number(pid) === process.pid) return false
  while (facts && facts.parent > 1) {
    if (facts.parent === process.pid) return false
    facts = processFacts(facts.parent)
  }
  return true
}

/** vitest globalSetup: nothing of a run that was not there before may be there afterwards. */
export default async function setup(): Promise<() => Promise<void>> {
  const engine = await connectEngine()
  const before = new Set((await objectsOfRuns(engine)).map(({ id }) => id))
  return async () => {
    const after = await objectsOfRuns(engine)
    const left = after.filter(({ id, labels }) => !before.has(id) && !isForeign(labels[OWNER_LABEL]))
    engine.close()
    if (left.length > 0) {
      const names = left.map(({ kind, name }) => `${kind} ${name}`).join(', ')
      throw new Error(`the tests left objects of their runs on the Docker engine: ${names}`)
    }
  }
}
