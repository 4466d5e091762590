import type { StartedSandbox } from '../sandbox/provider.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'

/**
 * `default`: an ordinary sandbox, as root where the provider has users. `non-root`: its own user is uid 1000 with a
 * home of its own. `read-only`: a read-only root with a writable /tmp. `no-shell`: nothing but the static program
 * /tool. `small`: at most 64 processes, and a /small of 1 MiB. `strict`: hardened, with uid 1000 as its user.
 */
export type Flavour = 'default' | 'non-root' | 'read-only' | 'no-shell' | 'small' | 'strict'

/**
 * What not every provider has. `isolation`: what happens inside touches nothing outside, so hostile commands may run.
 * `users`: the sandbox's user is root and commands may run as others. The rest: flavours that can be started.
 */
export type Capability = 'isolation' | 'users' | Exclude<Flavour, 'default'>

/** What is put through the checks. */
export interface ConformanceTarget {
  readonly name: string
  /** What it does not have, and why; checks that need it do not run. */
  readonly lacks?: Readonly<Partial<Record<Capability, string>>>
  start(flavour: Flavour): Promise<StartedSandbox>
}

export interface ConformanceContext {
  /** Shared by all checks of a session: they leave it usable. */
  readonly sandbox: Sandbox
  /** Absolute path in the shared sandbox that is this check's own; nothing is there yet. */
  readonly folder: string
  /** Folder on this host that goes with the check. */
  readonly tempDir: string
  /** The shared sandbox of a flavour. */
  shared(flavour: Flavour): Promise<Sandbox>
  /** A sandbox of this check's own, which it may ruin; it is removed with the check. */
  start(flavour?: Flavour): Promise<StartedSandbox>
}

export interface ConformanceCheck {
  /** A sentence about behaviour; unique. */
  readonly name: string
  readonly needs?: readonly Capability[]
  /** Costs so much that once for each transport is enough. */
  readonly heavy?: boolean
  /** @throws when the behaviour is not there */
  run(context: ConformanceContext): Promise<void>
}

type Run = ConformanceCheck['run']

/** Makes a check; with `needs` and `heavy` where they apply. */
export function check(
  name: string,
  run: Run,
  options: Pick<ConformanceCheck, 'needs' | 'heavy'> = {},
): ConformanceCheck {
  return { name, run, ...options }
}
