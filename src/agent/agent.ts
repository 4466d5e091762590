import type { Budget } from '../limit/budget.ts'
import type { Sample } from '../sample/sample.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { Message } from './messages.ts'
import type { Model } from './model.ts'
import type { Transcript } from './transcript.ts'

/** What an agent has done so far. Scorers see it, also when a limit or an error cut the agent short. */
export interface AgentState {
  readonly messages: Message[]
  output: string
}

/** The sample as an agent may see it: hidden tests are not among it. */
export type VisibleSample = Omit<Sample, 'tests'>

export interface AgentContext {
  readonly sample: VisibleSample
  readonly epoch: number
  /** The default service. Reading it in a task without a sandbox is an error that says so. */
  readonly sandbox: Sandbox
  /** Any service by name. @throws ConfigError when there is none of that name */
  service(name: string): Sandbox
  /** Calling it in a run without a model is an error that says so. */
  readonly model: Model
  readonly state: AgentState
  readonly budget: Budget
  readonly transcript: Transcript
  /** Aborted when the sample is cancelled or its time is up. */
  readonly signal: AbortSignal
}

/** Works on one sample. A returned text becomes the output. Throwing fails the sample. */
export type Agent = (context: AgentContext) => Promise<string | void>
