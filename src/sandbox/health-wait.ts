/** The Engine's HealthConfig; durations in nanoseconds, absent and zero mean inherited or the engine's default. */
export interface HealthConfig {
  readonly Test?: readonly string[]
  readonly Interval?: number
  readonly Timeout?: number
  readonly Retries?: number
  readonly StartPeriod?: number
  readonly StartInterval?: number
}

const SECOND = 1e9
const ENGINE_DEFAULTS = { interval: 30 * SECOND, timeout: 30 * SECOND, retries: 3 }

/** What the engine makes of an image's health check and a container's, key by key. */
export function mergedHealth(
  image: HealthConfig | undefined,
  container: HealthConfig | undefined,
): HealthConfig | undefined {
  if (container === undefined || image === undefined) return container ?? image
  return {
    Test: container.Test && container.Test.length > 0 ? container.Test : image.Test,
    Interval: container.Interval || image.Interval,
    Timeout: container.Timeout || image.Timeout,
    Retries: container.Retries || image.Retries,
    StartPeriod: container.StartPeriod || image.StartPeriod,
    StartInterval: container.StartInterval || image.StartInterval,
  }
}

/** Whether the engine probes at all. */
export function hasHealthCheck(health: HealthConfig | undefined): health is HealthConfig {
  const [kind] = health?.Test ?? []
  return kind !== undefined && kind !== 'NONE'
}

/**
 * Milliseconds after the start by which the engine has called the container healthy or unhealthy; undefined without a check.
 * A probe that begins within the start period is not counted but may run its whole timeout; each counted one comes an interval after the last.
 */
export function healthDeadlineMs(health: HealthConfig | undefined): number | undefined {
  if (!hasHealthCheck(health)) return undefined
  const interval = health.Interval || ENGINE_DEFAULTS.interval
  const timeout = health.Timeout || ENGINE_DEFAULTS.timeout
  const retries = health.Retries || ENGINE_DEFAULTS.retries
  const uncounted = health.StartPeriod ? health.StartPeriod + timeout : 0
  return Math.ceil((uncounted + retries * (interval + timeout)) / 1e6)
}
