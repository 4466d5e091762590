import { errorMessage } from '../../../errors.ts'
import type { SandboxIdentity } from '../../../sample/identity.ts'
import type { ProviderContext, SandboxReport } from '../../provider.ts'
import type { SandboxPlan } from '../../sandbox-plan.ts'
import { serviceLogs } from '../container/service-logs.ts'
import { diskFull } from '../engine/disk-full.ts'
import type { Engine } from '../engine/engine.ts'
import { engineReturns, isOutage } from '../engine/engine-returns.ts'
import type { Guests } from '../guest/guests.ts'
import { NUMBER_LABEL, SERVICE_LABEL, selectorFilter } from '../identity/labels.ts'
import type { PreparedImage } from '../image/prepared-image.ts'
import { listObjects, removeSelected } from '../remove.ts'
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
  readonly onServiceLogs?: ProviderContext['onServiceLogs'] | undefined
}

const STARTS = 2

/**
 * Starts a sandbox, once more with everything made anew where the failure may pass; while the engine does not answer,
 * it waits for that. What a failed or aborted start had made is removed before it throws or is tried again.
 * @throws StartFailure; DiskFullError; the signal's reason
 */
export async function startSandbox(request: StartRequest): Promise<DockerStartedSandbox> {
  for (let start = 1; ; start += 1) {
    try {
      return await startAttempt(request, start)
    } catch (error) {
      if (isOutage(error)) await engineReturns(request.engine, request)
      if (!request.signal?.aborted) await tellLogs(request)
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

/** What has been made can be told by its labels alone. */
async function tellLogs({ engine, identity, onServiceLogs }: StartRequest): Promise<void> {
  if (!onServiceLogs) return
  const objects = await listObjects(engine, selectorFilter(identity)).catch(() => [])
  const containers = objects
    .filter(({ kind }) => kind === 'container')
    .map(({ id, labels }) => ({
      id,
      service: labels[SERVICE_LABEL] ?? '',
      number: Number(labels[NUMBER_LABEL] ?? 1),
    }))
  await onServiceLogs(await serviceLogs(engine, containers))
}
