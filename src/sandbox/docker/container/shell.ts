import { call } from '../engine/call.ts'
import { statusOf } from '../engine/engine-error.ts'
import type { ContainerRef } from './container-ref.ts'

/** Whether the container's file system has a shell where images have it. @throws EngineError */
export async function hasShell(container: ContainerRef): Promise<boolean> {
  for (const path of ['/bin/sh', '/usr/bin/sh']) {
    try {
      await call('looking for a shell', { deadlineMs: 5000 }, (abortSignal) =>
        container.control.infoArchive({ path, abortSignal }),
      )
      return true
    } catch (error) {
      if (statusOf(error) !== 404) throw error
    }
  }
  return false
}
