import { type HealthConfig, hasHealthCheck, healthDeadlineMs } from '../../health-wait.ts'
import type { ContainerInfo } from './look-until.ts'

/** What a look at a container says of its start; undefined: not decided yet. */
export type Verdict =
  | { readonly kind: 'running' }
  | { readonly kind: 'healthy' }
  | { readonly kind: 'completed' }
  /** `late`: no probe has failed, all were cut off by their own timeout. */
  | { readonly kind: 'unhealthy'; readonly probes: string; readonly late: boolean }
  | { readonly kind: 'no-health-check' }
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'restarting'; readonly exitCode: number; readonly restarts: number }

/** A container that its own restart policy has started again so often, and that still does not run, loops. */
const MANY_RESTARTS = 5
const PROBES_SHOWN = 3

export function healthOf(info: ContainerInfo): HealthConfig | undefined {
  return info.Config.Healthcheck as HealthConfig | undefined
}

/**
 * The engine itself judges by the numbers of the file, but a busy one takes longer to begin, run and end each probe: what
 * it still calls starting is given up only when it has had ample time for that too.
 */
const ENGINE_MS = 30_000

export function healthWaitMs(info: ContainerInfo): number | undefined {
  const deadlineMs = healthDeadlineMs(healthOf(info))
  return deadlineMs === undefined ? undefined : deadlineMs + ENGINE_MS
}

function probes(info: ContainerInfo): string {
  const log = info.State.Health?.Log ?? []
  return log
    .slice(-PROBES_SHOWN)
    .map(({ ExitCode, Output }) => `probe with exit code ${ExitCode}: ${Output.trim() || '(no output)'}`)
    .join('\n')
}

/** What the Engine notes of a probe that it has cut off. */
const CUT_OFF = -1

function allCutOff(info: ContainerInfo): boolean {
  const log = info.State.Health?.Log ?? []
  return log.length > 0 && log.every(({ ExitCode }) => ExitCode === CUT_OFF)
}

function endOf(info: ContainerInfo): Verdict | undefined {
  const { Status, ExitCode, Running, Restarting } = info.State
  if (Restarting || (Running && Status === 'restarting')) {
    const restarts = info.RestartCount
    return restarts >= MANY_RESTARTS ? { kind: 'restarting', exitCode: ExitCode, restarts } : undefined
  }
  if (Status !== 'exited' && Status !== 'dead') return undefined
  return ExitCode === 0 ? { kind: 'completed' } : { kind: 'exited', exitCode: ExitCode }
}

/** For who waits until it is healthy, or, without a health check, just runs. */
export function judgeReady(info: ContainerInfo): Verdict | undefined {
  const end = endOf(info)
  if (end || info.State.Restarting) return end
  if (!info.State.Running) return undefined
  if (!hasHealthCheck(healthOf(info))) return { kind: 'running' }
  const status = info.State.Health?.Status
  if (status === 'healthy') return { kind: 'healthy' }
  return status === 'unhealthy'
    ? { kind: 'unhealthy', probes: probes(info), late: allCutOff(info) }
    : undefined
}

/** For who waits for `service_healthy`, which nothing without a health check can be. */
export function judgeHealthy(info: ContainerInfo): Verdict | undefined {
  if (!hasHealthCheck(healthOf(info))) return { kind: 'no-health-check' }
  const verdict = judgeReady(info)
  return verdict?.kind === 'completed' ? { kind: 'exited', exitCode: 0 } : verdict
}

/** For who waits for `service_completed_successfully`. */
export function judgeCompleted(info: ContainerInfo): Verdict | undefined {
  return endOf(info)
}
