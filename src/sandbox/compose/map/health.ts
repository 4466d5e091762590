import { ConfigError } from '../../../errors.ts'
import type { HealthConfig } from '../../health-wait.ts'
import { parseGoDuration } from './durations.ts'
import type { ComposeHealthcheck } from './schema-service.ts'

const DURATIONS = {
  interval: 'Interval',
  timeout: 'Timeout',
  start_period: 'StartPeriod',
  start_interval: 'StartInterval',
} as const

/** The engine refuses anything shorter, except zero, which means its default. */
const SHORTEST = 1e6

function checkedDuration(written: string, place: string): number {
  const nanoseconds = parseGoDuration(written, place)
  if (nanoseconds !== 0 && nanoseconds < SHORTEST) {
    throw new ConfigError(`expected at least 1ms, got '${written}'`, { where: place })
  }
  return nanoseconds
}

function checkedRetries(retries: number, place: string): number {
  if (Number.isSafeInteger(retries) && retries >= 0) return retries
  throw new ConfigError(`expected a whole number of retries, got ${retries}`, { where: place })
}

/** The Engine's HealthConfig; keys that are absent here are the image's. @throws ConfigError naming service and field */
export function healthPlan(
  healthcheck: ComposeHealthcheck | undefined,
  place: string,
): HealthConfig | undefined {
  if (healthcheck === undefined) return undefined
  if (healthcheck.disable) return { Test: ['NONE'] }
  const plan: Record<string, unknown> = {}
  if (healthcheck.test !== undefined) plan.Test = healthcheck.test
  if (healthcheck.retries !== undefined) {
    plan.Retries = checkedRetries(healthcheck.retries, `${place}.retries`)
  }
  for (const [key, engineKey] of Object.entries(DURATIONS)) {
    const written = healthcheck[key as keyof typeof DURATIONS]
    if (written !== undefined) plan[engineKey] = checkedDuration(written, `${place}.${key}`)
  }
  return plan
}
