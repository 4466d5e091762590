import { randomBytes } from 'node:crypto'
import type Docker from 'dockerode'
import { errorMessage, SandboxInitError } from '../../../errors.ts'
import { isFilteredRuntime } from '../../policy/allow-list-rules.ts'
import { ContainerRef } from '../container/container-ref.ts'
import { createContainer } from '../container/create-container.ts'
import { logTail } from '../container/post-mortem.ts'
import { call } from '../engine/call.ts'
import type { Engine, EngineFacts } from '../engine/engine.ts'
import { isConnectionError } from '../engine/engine-error.ts'
import { OWNER_LABEL, RUN_LABEL } from '../identity/labels.ts'
import { owner } from '../identity/owner.ts'
import { programImage } from '../image/program-image.ts'

/** The first version of each line whose resolver asks nobody outside for a container of internal networks alone (CVE-2024-29018). */
const CLOSED_RESOLVERS: Readonly<Record<number, readonly [number, number]>> = { 23: [0, 11], 25: [0, 4] }
const ALL_CLOSED_FROM = 26

/** Why an engine cannot close a sandbox, as far as it says so itself. */
export function unenforceable({
  version,
  defaultRuntime,
}: Pick<EngineFacts, 'version' | 'defaultRuntime'>): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split(/[^\d]+/).map(Number)
  const [closedMinor, closedPatch] = CLOSED_RESOLVERS[major] ?? [Number.POSITIVE_INFINITY, 0]
  const isClosed =
    major >= ALL_CLOSED_FROM || minor > closedMinor || (minor === closedMinor && patch >= closedPatch)
  if (!isClosed) {
    return `Engine ${version} answers names from outside on closed networks too; 25.0.4 and newer do not`
  }
  if (defaultRuntime === undefined || isFilteredRuntime(defaultRuntime)) return undefined
  return `the engine's default runtime is '${defaultRuntime}', whose packets no filter sees`
}

/** Installs the filter in a container of its own, once, to see that this kernel and engine let it be done. @throws SandboxInitError */
export async function checkEnforceable(engine: Engine, run: string | undefined): Promise<void> {
  const refuse = (why: string, cause?: unknown) =>
    new SandboxInitError(`the network allow-list cannot be enforced here: ${why}`, {
      cause,
      transient: isConnectionError(cause),
    })
  const why = unenforceable(engine.facts)
  if (why !== undefined) throw refuse(why)
  const image = await programImage(engine, 'egress')
  if (image === undefined) throw refuse("belljar's egress program is not built for this engine")
  const { exitCode, output } = await tryFilter(engine, image, run).catch((cause: unknown) => {
    throw refuse(errorMessage(cause), cause)
  })
  if (exitCode !== 0) throw refuse(output.trim() || `its filter ended with exit code ${exitCode}`)
}

async function tryFilter(engine: Engine, image: string, run: string | undefined) {
  const name = `belljar-egress-check-${randomBytes(8).toString('hex')}`
  const labels = { ...(run !== undefined && { [RUN_LABEL]: run }), [OWNER_LABEL]: owner() }
  const body: Docker.ContainerCreateOptions = {
    Image: image,
    Cmd: ['seal'],
    Labels: labels,
    HostConfig: { NetworkMode: 'none', CapDrop: ['ALL'], CapAdd: ['NET_ADMIN', 'NET_RAW'] },
  }
  const id = await createContainer(engine, { name, body, labels })
  const container = engine.control.getContainer(id)
  try {
    await call('starting a container', {}, (abortSignal) => container.start({ abortSignal }))
    const { StatusCode } = (await call('trying the filter', { deadlineMs: 60_000 }, (abortSignal) =>
      engine.streams.getContainer(id).wait({ abortSignal }),
    )) as { StatusCode: number }
    const output = await logTail(new ContainerRef(engine, { id, name, service: 'egress' }), false)
    return { exitCode: StatusCode, output }
  } finally {
    await call('removing a container', {}, () => container.remove({ force: true })).catch(() => undefined)
  }
}
