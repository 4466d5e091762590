import type { Budget } from '../limit/budget.ts'
import type { ReadySample } from '../sample/sample.ts'
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
export type VisibleSample = Omit<ReadySample, 'tests'>

/** The models of a run, as one sample may use them: under its limits, with every call in its log. */
export interface ModelAccess {
  /** Calling it in a run without a model is an error that says so. */
  readonly model: Model
  /** The model that the run or the task gives for a role such as `grader`, else `model`; its calls are logged and counted under the role. */
  modelRole(role: string): Model
  /** A model of one's own, under the same limits and in the same log. */
  metered(model: Model): Model
}

export interface AgentContext extends ModelAccess {
  readonly sample: VisibleSample
  readonly epoch: number
  /** The default service. Reading it in a task without a sandbox is an error that says so. */
  readonly sandbox: Sandbox
  /** Any service by name. @throws ConfigError when there is none of that name */
  service(name: string): Sandbox
  readonly state: AgentState
  readonly budget: Budget
  readonly transcript: Transcript
  /** Aborted when the sample is cancelled or its time is up. */
  readonly signal: AbortSignal
}

/** Works on one sample. A returned text becomes the output. Throwing fails the sample. */
export type Agent = (context: AgentContext) => Promise<string | void>
