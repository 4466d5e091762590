import { errorMessage } from '../../../errors.ts'
import type { SandboxIdentity } from '../../../sample/identity.ts'
import type { SandboxReport } from '../../provider.ts'
import type { SandboxPlan } from '../../sandbox-plan.ts'
import { diskFull } from '../engine/disk-full.ts'
import type { Engine } from '../engine/engine.ts'
import type { Guests } from '../guest/guests.ts'
import type { PreparedImage } from '../image/prepared-image.ts'
import { removeSelected } from '../remove.ts'
import type { DockerStartedSandbox } from '../started-sandbox.ts'
import { startAttempt } from './attempt.ts'
import { StartFailure } from './start-failure.ts'
import type { StartSupport } from './start-support.ts'

export interface StartRequest {
  readonly engine: Engine
  readonly support: StartSupport
  readonly guests: Guests
  readonly plan: SandboxPlan
  readonly images: ReadonlyMap<string, PreparedImage>
  readonly identity: SandboxIdentity
  readonly signal?: AbortSignal | undefined
  readonly report?: ((report: SandboxReport) => void) | undefined
}

const STARTS = 2

/**
 * Starts a sandbox, once more with everything made anew where the failure may pass. What a failed or aborted start had
 * made is removed before it throws or is tried again.
 * @throws StartFailure; DiskFullError; the signal's reason
 */
export async function startSandbox(request: StartRequest): Promise<DockerStartedSandbox> {
  for (let start = 1; ; start += 1) {
    try {
      return await startAttempt(request, start)
    } catch (error) {
      await removeSelected(request.engine, request.identity).catch(() => undefined)
      request.signal?.throwIfAborted()
      const full = await diskFull(request.engine, error)
      if (full) throw full
      const mayPass = error instanceof StartFailure && error.mayPass
      if (!mayPass || start === STARTS) throw error
      request.report?.({
        kind: 'warning',
        message: `${errorMessage(error)}\n(starting once more, with everything made anew)`,
      })
    }
  }
}
