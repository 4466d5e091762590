import type { Readable } from 'node:stream'
import { errorMessage, SandboxInitError } from '../../../errors.ts'
import type { SandboxReport } from '../../provider.ts'
import type { BuildPlan } from '../../sandbox-plan.ts'
import { call } from '../engine/call.ts'
import { diskFull, isNoSpace, noSpaceError } from '../engine/disk-full.ts'
import type { Engine } from '../engine/engine.ts'
import { toEngineError } from '../engine/engine-error.ts'
import { CACHE_LABEL } from '../identity/labels.ts'
import { contextArchive, readBuildContext } from './build-context.ts'
import { BuildTrace } from './build-trace.ts'
import { progressLines } from './json-lines.ts'

export interface BuildRequest {
  readonly plan: BuildPlan
  readonly hash: string
  readonly tag: string
  readonly signal: AbortSignal
  readonly report?: ((report: SandboxReport) => void) | undefined
}

const BUILDKIT_TRACE = 'moby.buildkit.trace'
/** A build that says nothing for this long is given up. */
const SILENCE_MS = 1_800_000

function query(engine: Engine, request: BuildRequest, dockerfile: string): Record<string, unknown> {
  const { plan, hash, tag } = request
  const { labels, ...options } = plan.options ?? {}
  return {
    ...options,
    t: tag,
    dockerfile,
    version: engine.facts.buildkit ? '2' : '1',
    rm: true,
    forcerm: true,
    buildargs: plan.args,
    labels: { ...(labels as Record<string, string> | undefined), [CACHE_LABEL]: hash },
    ...(plan.target && { target: plan.target }),
    ...(plan.platform && { platform: plan.platform }),
  }
}

/** dockerode's own call opens a gRPC session for BuildKit, which a plain archive does not need. */
function postBuild(
  engine: Engine,
  options: Record<string, unknown>,
  upload: { archive: Readable; signal: AbortSignal },
): Promise<Readable> {
  return new Promise((resolve, reject) => {
    const request = {
      path: '/build?',
      method: 'POST',
      file: upload.archive,
      options,
      abortSignal: upload.signal,
      isStream: true,
      statusCodes: { 200: true, 400: 'bad parameter', 500: 'server error' },
    }
    engine.streams.modem.dial(request, (error: unknown, stream: unknown) =>
      error ? reject(error) : resolve(stream as Readable),
    )
  })
}

async function follow(stream: Readable, trace: BuildTrace): Promise<string | undefined> {
  let failure: string | undefined
  const silence = setTimeout(
    () => stream.destroy(new Error(`no output in ${SILENCE_MS / 60_000} minutes`)),
    SILENCE_MS,
  )
  try {
    for await (const line of progressLines(stream)) {
      silence.refresh()
      if (line.id === BUILDKIT_TRACE && typeof line.aux === 'string') trace.addBuildkit(line.aux)
      if (line.stream) trace.addLegacy(line.stream)
      failure = line.errorDetail?.message ?? line.error ?? failure
    }
  } finally {
    clearTimeout(silence)
    stream.destroy()
  }
  return failure
}

/** Builds an image and tags it. @throws SandboxInitError with the failing step and its last lines; DiskFullError */
export async function buildImage(engine: Engine, request: BuildRequest): Promise<void> {
  const { plan, signal, report } = request
  signal.throwIfAborted()
  const context = await readBuildContext(plan)
  report?.({ kind: 'build', message: `building ${plan.context} (${context.entries.length} files)` })
  const trace = new BuildTrace()
  const archive = contextArchive(context)
  let failure: string | undefined
  try {
    const options = query(engine, request, context.dockerfileName)
    const stream = await call('build', { signal, deadlineMs: SILENCE_MS }, () =>
      postBuild(engine, options, { archive, signal }),
    )
    failure = await follow(stream, trace)
  } catch (error) {
    signal.throwIfAborted()
    const cause = toEngineError('build', error)
    const full = await diskFull(engine, cause)
    if (full) throw full
    const transient = cause.status === undefined
    throw new SandboxInitError(`the build of ${plan.context} failed: ${errorMessage(cause)}`, {
      transient,
      cause,
    })
  } finally {
    archive.destroy()
  }
  signal.throwIfAborted()
  if (failure !== undefined) {
    const details = trace.describeFailure()
    const message = `the build of ${plan.context} (${plan.dockerfile}) failed: ${failure}${details ? `\n${details}` : ''}`
    throw isNoSpace(message) ? await noSpaceError(engine, message) : new SandboxInitError(message)
  }
}
