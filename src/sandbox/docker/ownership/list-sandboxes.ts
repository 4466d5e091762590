import { connectEngine } from '../engine/engine.ts'
import { Looks } from './looks.ts'
import { overviewOf, type SandboxOverview } from './overview.ts'
import { engineTimeMs, survey } from './survey.ts'

/** Looks at the engine once. @throws ConfigError, EngineError */
export async function listSandboxes(): Promise<SandboxOverview[]> {
  const engine = await connectEngine()
  try {
    const [runs, nowMs] = await Promise.all([survey(engine), engineTimeMs(engine)])
    return overviewOf(runs, new Looks().take(runs, 0), nowMs)
  } finally {
    engine.close()
  }
}
