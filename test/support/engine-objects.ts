import { connectEngine } from '../../src/sandbox/docker/engine/engine.ts'
import { listObjects } from '../../src/sandbox/docker/remove.ts'

/** Names of all that carries a run's label on the engine. */
export async function objectsOfRun(run: string): Promise<string[]> {
  const engine = await connectEngine()
  try {
    return (await listObjects(engine, { label: [`belljar.run=${run}`] })).map(({ name }) => name)
  } finally {
    engine.close()
  }
}
