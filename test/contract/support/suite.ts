import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SandboxUnavailableError } from '../../../src/errors.ts'
import type { ConformanceTarget } from '../../../src/testing/check.ts'
import { sandboxConformance } from '../../../src/testing/conformance.ts'
import { ConformanceSession, notApplicable, runKnownFailure } from '../../../src/testing/session.ts'

const HOOK_TIMEOUT_MS = 120_000

export interface SuiteOptions {
  readonly target: () => Promise<ConformanceTarget & AsyncDisposable>
  readonly lacks?: ConformanceTarget['lacks']
  /** Why each of these checks fails, by the check's name. One that passes is an error. */
  readonly knownFailures?: Readonly<Record<string, string>>
  /** Why the sandbox may be gone in the middle of these, by the check's name: a wrong answer is still an error. */
  readonly mayBeLost?: Readonly<Record<string, string>>
  /** Whether the heavy checks run too. */
  readonly heavy: boolean
}

/** Makes a test of every check. What does not run stands in the report as skipped, with the reason in its name. */
export function conformanceSuite(name: string, options: SuiteOptions): void {
  const { knownFailures = {}, mayBeLost = {}, lacks = {} } = options
  describe(name, () => {
    let target: ConformanceTarget & AsyncDisposable
    let session: ConformanceSession

    beforeAll(async () => {
      target = await options.target()
      session = new ConformanceSession(target)
    }, HOOK_TIMEOUT_MS)
    afterAll(async () => {
      await session?.[Symbol.asyncDispose]()
      await target?.[Symbol.asyncDispose]()
    }, HOOK_TIMEOUT_MS)

    for (const check of sandboxConformance) {
      const lacking = notApplicable(check, { name, lacks, start: () => Promise.reject() })
      const knownFailure = knownFailures[check.name]
      if (lacking) test.skip(`${check.name} (${lacking})`)
      else if (check.heavy && !options.heavy) test.skip(`${check.name} (in the long tests)`)
      else if (knownFailure) {
        test(`${check.name} (known failure: ${knownFailure})`, () =>
          runKnownFailure(session, check, knownFailure))
      } else if (mayBeLost[check.name]) {
        test(`${check.name} (may be lost: ${mayBeLost[check.name]})`, () =>
          session.run(check).catch(unlessUnavailable))
      } else test(check.name, () => session.run(check))
    }

    test('every known failure is one of the checks', () => {
      const names = sandboxConformance.map((check) => check.name)
      expect(
        Object.keys({ ...knownFailures, ...mayBeLost }).filter((known) => !names.includes(known)),
      ).toEqual([])
      expect(new Set(names).size).toBe(names.length)
    })
  })
}

function unlessUnavailable(error: unknown): void {
  if (!(error instanceof SandboxUnavailableError)) throw error
}
