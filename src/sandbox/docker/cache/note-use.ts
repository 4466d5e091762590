import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'

/** Tagging an image with the tag that it has sets its LastTagTime: the use date that `prune` goes by. @throws EngineError */
export async function noteUse(engine: Engine, reference: string): Promise<void> {
  const [repo = '', tag = ''] = reference.split(':')
  await call('tagging an image', {}, (abortSignal) =>
    engine.control.getImage(reference).tag({ repo, tag, abortSignal }),
  )
}
