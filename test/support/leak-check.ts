import { connectEngine, type Engine } from '../../src/sandbox/docker/engine/engine.ts'
import { RUN_LABEL } from '../../src/sandbox/docker/identity/labels.ts'
import { type EngineObject, listObjects } from '../../src/sandbox/docker/remove.ts'

const objectsOfRuns = (engine: Engine): Promise<EngineObject[]> => listObjects(engine, { label: [RUN_LABEL] })

/** vitest globalSetup: nothing of a run that was not there before may be there afterwards. */
export default async function setup(): Promise<() => Promise<void>> {
  const engine = await connectEngine()
  const before = new Set((await objectsOfRuns(engine)).map(({ id }) => id))
  return async () => {
    const left = (await objectsOfRuns(engine)).filter(({ id }) => !before.has(id))
    engine.close()
    if (left.length > 0) {
      const names = left.map(({ kind, name }) => `${kind} ${name}`).join(', ')
      throw new Error(`the tests left objects of their runs on the Docker engine: ${names}`)
    }
  }
}
