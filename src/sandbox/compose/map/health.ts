import { parseGoDuration } from './durations.ts'
import type { ComposeHealthcheck } from './schema-service.ts'

/** The Engine's HealthConfig: durations in nanoseconds, absent keys are the image's. */
export interface HealthPlan {
  readonly Test?: readonly string[]
  readonly Interval?: number
  readonly Timeout?: number
  readonly Retries?: number
  readonly StartPeriod?: number
  readonly StartInterval?: number
}

const DURATIONS = {
  interval: 'Interval',
  timeout: 'Timeout',
  start_period: 'StartPeriod',
  start_interval: 'StartInterval',
} as const

export function healthPlan(
  healthcheck: ComposeHealthcheck | undefined,
  place: string,
): HealthPlan | undefined {
  if (healthcheck === undefined) return undefined
  if (healthcheck.disable) return { Test: ['NONE'] }
  const plan: Record<string, unknown> = {}
  if (healthcheck.test !== undefined) plan.Test = healthcheck.test
  if (healthcheck.retries !== undefined) plan.Retries = healthcheck.retries
  for (const [key, engineKey] of Object.entries(DURATIONS)) {
    const written = healthcheck[key as keyof typeof DURATIONS]
    if (written !== undefined) plan[engineKey] = parseGoDuration(written, `${place}.${key}`)
  }
  return plan
}
