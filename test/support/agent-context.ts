import type { AgentContext, ModelAccess } from '../../src/agent/agent.ts'
import { ModelCalls } from '../../src/agent/calls/model-calls.ts'
import { ModelMeter, type RunModels } from '../../src/agent/model-meter.ts'
import { ModelRecorder } from '../../src/agent/model-recorder.ts'
import type { Transcript, TranscriptEvent } from '../../src/agent/transcript.ts'
import { ConfigError } from '../../src/errors.ts'
import { Budget, type SampleLimits } from '../../src/limit/budget.ts'
import { WorkClock } from '../../src/limit/work-clock.ts'
import { shownInput } from '../../src/sample/input.ts'
import type { ReadySample, Sample } from '../../src/sample/sample.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import type { ScorerContext } from '../../src/score/scorer.ts'

export interface TestContextOptions {
  readonly sample?: Partial<Sample>
  readonly sandbox?: Sandbox
  readonly services?: Readonly<Record<string, Sandbox>>
  readonly model?: AgentContext['model']
  readonly roles?: RunModels['roles']
  readonly config?: RunModels['config']
  readonly calls?: ModelCalls
  readonly limits?: SampleLimits
  readonly signal?: AbortSignal
}

/** The context of one sample, with its events in a list. As in a run, asking for a sandbox or model that is not there is an error. */
export function agentContext(options: TestContextOptions = {}): AgentContext & { events: TranscriptEvent[] } {
  const events: TranscriptEvent[] = []
  const transcript = { record: (event: TranscriptEvent) => void events.push(event) }
  const signal = options.signal ?? new AbortController().signal
  const budget = new Budget(options.limits)
  return {
    events,
    sample: readySample(options.sample),
    epoch: 1,
    get sandbox() {
      return options.sandbox ?? missing('sandbox')
    },
    ...modelAccess(options, { transcript, signal, budget }),
    service: (name) => options.services?.[name] ?? missing(`service '${name}'`),
    state: { messages: [], output: '' },
    budget,
    transcript,
    signal,
  }
}

function readySample(sample: TestContextOptions['sample']): ReadySample {
  const input = shownInput(sample?.input ?? 'What is six times seven?')
  return { id: 's1', ...sample, input, content: input }
}

function modelAccess(
  { model, roles, config, calls = new ModelCalls() }: TestContextOptions,
  { transcript, ...rest }: { transcript: Transcript; signal: AbortSignal; budget: Budget },
): ModelAccess {
  const meter = new ModelMeter({
    models: { model, roles, config, calls },
    epoch: 1,
    clock: new WorkClock(),
    recorder: new ModelRecorder(transcript),
    ...rest,
  })
  return {
    model: meter.model,
    modelRole: (role) => meter.modelRole(role),
    metered: (own) => meter.metered(own),
  }
}

export function scorerContext(options: TestContextOptions & { output?: string } = {}): ScorerContext {
  const signal = options.signal ?? new AbortController().signal
  return {
    ...modelAccess(options, { transcript: { record: () => undefined }, signal, budget: new Budget() }),
    sample: readySample(options.sample),
    epoch: 1,
    state: { messages: [], output: options.output ?? '' },
    get sandbox() {
      return options.sandbox ?? missing('sandbox')
    },
    service: (name) => options.services?.[name] ?? missing(`service '${name}'`),
    signal,
  }
}

function missing(what: string): never {
  throw new ConfigError(`there is no ${what} in this test`)
}
