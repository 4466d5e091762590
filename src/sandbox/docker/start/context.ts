import type { SandboxReport } from '../../provider.ts'
import type { SandboxPlan } from '../../sandbox-plan.ts'
import type { Engine } from '../engine/engine.ts'
import type { Guests } from '../guest/guests.ts'
import type { PreparedImage } from '../image/prepared-image.ts'
import type { StartSupport } from './start-support.ts'

/** What one try to start a sandbox works with. */
export interface AttemptContext {
  readonly engine: Engine
  readonly support: StartSupport
  readonly guests: Guests
  readonly plan: SandboxPlan
  readonly images: ReadonlyMap<string, PreparedImage>
  readonly run: string
  readonly project: string
  /** Of everything that is made. */
  readonly labels: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly report: (report: SandboxReport) => void
}
