import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StartedSandbox } from '../sandbox/provider.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { Capability, ConformanceCheck, ConformanceContext, ConformanceTarget, Flavour } from './check.ts'

/** Why a check does not concern a target; undefined when it does. */
export function notApplicable(check: ConformanceCheck, target: ConformanceTarget): string | undefined {
  const missing = (check.needs ?? []).find((need: Capability) => target.lacks?.[need] !== undefined)
  return missing && `no ${missing}: ${target.lacks?.[missing]}`
}

/** Runs checks against one target; the sandboxes that checks may share are started when first needed, once. */
export class ConformanceSession implements AsyncDisposable {
  readonly target: ConformanceTarget
  readonly #shared = new Map<Flavour, Promise<StartedSandbox>>()
  #checks = 0

  constructor(target: ConformanceTarget) {
    this.target = target
  }

  /** @throws when the behaviour is not there, or the target lacks what the check needs */
  async run(check: ConformanceCheck): Promise<void> {
    const reason = notApplicable(check, this.target)
    if (reason) throw new Error(`this check is not for ${this.target.name}: ${reason}`)
    const tempDir = await mkdtemp(join(tmpdir(), 'belljar-conformance-'))
    const own: StartedSandbox[] = []
    try {
      await check.run(await this.#context(tempDir, own))
    } catch (error) {
      await this.#dropRuined()
      throw error
    } finally {
      await Promise.all(own.map((sandbox) => sandbox.remove()))
      await rm(tempDir, { recursive: true, force: true })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const shared = [...this.#shared.values()]
    this.#shared.clear()
    await Promise.all(shared.map(async (started) => (await started.catch(() => undefined))?.remove()))
  }

  async #context(tempDir: string, own: StartedSandbox[]): Promise<ConformanceContext> {
    const sandbox = await this.#get('default')
    this.#checks += 1
    const folder = `${await this.#workdir(sandbox)}/check-${this.#checks}`
    return {
      sandbox,
      folder,
      tempDir,
      shared: (flavour) => this.#get(flavour),
      start: async (flavour = 'default') => {
        const started = await this.target.start(flavour)
        own.push(started)
        return started
      },
    }
  }

  readonly #workdirs = new WeakMap<Sandbox, Promise<string>>()

  #workdir(sandbox: Sandbox): Promise<string> {
    const known = this.#workdirs.get(sandbox)
    if (known !== undefined) return known
    const found = sandbox.exec(['pwd']).then(({ stdout }) => stdout.trimEnd().replace(/\/$/, ''))
    this.#workdirs.set(sandbox, found)
    return found
  }

  async #get(flavour: Flavour): Promise<Sandbox> {
    let started = this.#shared.get(flavour)
    if (!started) {
      started = this.target.start(flavour)
      this.#shared.set(flavour, started)
      started.catch(() => this.#shared.delete(flavour))
    }
    return (await started).default
  }

  /** After a failed check, what it shared may be unusable: the next one gets a new one then. */
  async #dropRuined(): Promise<void> {
    for (const [flavour, starting] of this.#shared) {
      const started = await starting.catch(() => undefined)
      const probe = flavour === 'no-shell' ? ['/tool', 'echo'] : ['true']
      const works = await started?.default.exec(probe, { timeoutMs: 20_000 }).then(
        () => true,
        () => false,
      )
      if (works) continue
      this.#shared.delete(flavour)
      await started?.remove().catch(() => undefined)
    }
  }
}

/**
 * Runs a check that is known to fail for this target: it must fail.
 * @throws when it passes, as it is known no longer then
 */
export async function runKnownFailure(
  session: ConformanceSession,
  check: ConformanceCheck,
  reason: string,
): Promise<void> {
  try {
    await session.run(check)
  } catch {
    return
  }
  throw new Error(
    `'${check.name}' passes, but is listed as a known failure (${reason}): take it off the list`,
  )
}
