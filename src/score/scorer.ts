import type { AgentState, ModelAccess } from '../agent/agent.ts'
import type { ReadySample } from '../sample/sample.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { Metric } from './metrics.ts'

export type ScoreValue =
  | number
  | string
  | boolean
  | readonly (number | string | boolean)[]
  | Readonly<Record<string, number | string | boolean | null>>

/** A judge's verdict on one sample and epoch. 'C' counts 1, 'I' and 'N' 0, 'P' 0.5; numbers and booleans as they are. */
export interface Score {
  readonly value: ScoreValue
  readonly answer?: string
  readonly explanation?: string
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface ScorerContext extends ModelAccess {
  readonly sample: ReadySample
  readonly epoch: number
  readonly state: Readonly<AgentState>
  readonly sandbox: Sandbox
  service(name: string): Sandbox
  readonly signal: AbortSignal
}

/** Judges a sample after its agent has ended. null: cannot be judged (unscored, which is not zero). */
export interface Scorer {
  readonly name: string
  /** Default: accuracy and standard error. */
  readonly metrics?: readonly Metric[]
  /** Its own deadline in milliseconds, within that of all scorers of a sample. */
  readonly timeoutMs?: number
  /** It acts in the sandbox, so that it cannot judge a log of which the sandboxes are gone. */
  readonly needsSandbox?: boolean
  score(context: ScorerContext): Promise<Score | null>
}
