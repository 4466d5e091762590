import type { ContainerRef } from '../container/container-ref.ts'
import { logTail } from '../container/post-mortem.ts'
import type { EngineEvents } from '../events/engine-events.ts'
import { type ContainerInfo, inspectContainer, lookUntil } from './look-until.ts'
import { StartFailure } from './start-failure.ts'
import { healthWaitMs, judgeCompleted, judgeHealthy, judgeReady, type Verdict } from './verdicts.ts'

export type Awaited = 'ready' | 'healthy' | 'completed'

export type Reached = 'running' | 'healthy' | 'completed'

export interface AwaitOptions {
  /** Asked when a container keeps exiting: whether another service that it may be waiting for is still coming up. */
  readonly mayStillCome: () => boolean
  readonly events: EngineEvents
  readonly signal: AbortSignal
}

const JUDGES = { ready: judgeReady, healthy: judgeHealthy, completed: judgeCompleted } as const

/** A compose file has no number for these: whoever hangs longer will not come. */
const COMPLETION_MS = 1_800_000
const RUNNING_MS = 300_000
/** What has ended and been started again once must run for so long to count as running. */
const STEADY_MS = 1000

/** The wait that the file's own numbers give, counted anew whenever the container is started again. */
function deadline(awaited: Awaited) {
  let startedAt = ''
  let begin = performance.now()
  let waitMs = RUNNING_MS
  return {
    until: () => begin + waitMs,
    isSteady: (info: ContainerInfo) => info.RestartCount === 0 || performance.now() - begin >= STEADY_MS,
    note: (info: ContainerInfo) => {
      if (info.State.StartedAt !== startedAt) begin = performance.now()
      startedAt = info.State.StartedAt
      waitMs = awaited === 'completed' ? COMPLETION_MS : (healthWaitMs(info) ?? RUNNING_MS)
    },
  }
}

/** Waits until a started container is what is awaited of it. @throws StartFailure */
export async function awaitVerdict(
  container: ContainerRef,
  awaited: Awaited,
  options: AwaitOptions,
): Promise<Reached> {
  const wait = deadline(awaited)
  const verdict = await lookUntil(container, { ...options, until: wait.until }, (info) => {
    wait.note(info)
    const found = JUDGES[awaited](info)
    if (found?.kind === 'running' && !wait.isSteady(info)) return undefined
    return found?.kind === 'restarting' && options.mayStillCome() ? undefined : found
  })
  if (!verdict) throw await late(container, awaited)
  if (isReached(verdict)) return verdict.kind
  throw await failed(container, verdict)
}

async function late(container: ContainerRef, awaited: Awaited): Promise<StartFailure> {
  const info = await inspectContainer(container)
  const seconds = (
    (healthWaitMs(info) ?? (awaited === 'completed' ? COMPLETION_MS : RUNNING_MS)) / 1000
  ).toString()
  const what = awaited === 'completed' ? 'completed' : 'healthy'
  const status = info.State.Health?.Status ?? info.State.Status
  return new StartFailure(
    `the sandbox service '${container.service}' did not start: not ${what} after ${seconds} s (it is ${status})`,
    { service: container.service, mayPass: true, late: true },
  )
}

type Failed = Exclude<Verdict, { kind: Reached }>

function isReached(verdict: Verdict): verdict is Extract<Verdict, { kind: Reached }> {
  return verdict.kind === 'running' || verdict.kind === 'healthy' || verdict.kind === 'completed'
}

function describe(verdict: Failed): string {
  switch (verdict.kind) {
    case 'unhealthy':
      return `it is unhealthy\n${verdict.probes}`
    case 'no-health-check':
      return 'another service waits until it is healthy, but it has no health check'
    case 'exited':
      return `its container exited with code ${verdict.exitCode}`
    case 'restarting':
      return `its container keeps exiting with code ${verdict.exitCode} (restarted ${verdict.restarts} times)`
  }
}

async function failed(container: ContainerRef, verdict: Failed): Promise<StartFailure> {
  const info = await inspectContainer(container)
  const logs = await logTail(container, info.Config.Tty)
  const postMortem = logs ? `last log lines:\n${logs}` : 'it has logged nothing'
  const message = `the sandbox service '${container.service}' did not start: ${describe(verdict)}\n${postMortem}`
  const mayPass = verdict.kind === 'unhealthy'
  const late = verdict.kind === 'unhealthy' && verdict.late
  return new StartFailure(message, { service: container.service, mayPass, late, postMortem })
}
