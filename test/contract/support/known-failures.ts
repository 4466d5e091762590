import { ENGINE_KNOWN_FAILURES } from '../../../src/sandbox/docker/known-failures.ts'

/** The checks that the Engine's exec is known to fail, by name, with the reason. */
export function engineKnownFailures(): Record<string, string> {
  const entries = ENGINE_KNOWN_FAILURES.flatMap(({ checks = [], reason }) =>
    checks.map((name) => [name, reason]),
  )
  return Object.fromEntries(entries)
}
