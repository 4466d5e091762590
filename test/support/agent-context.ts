import type { AgentContext } from '../../src/agent/agent.ts'
import type { TranscriptEvent } from '../../src/agent/transcript.ts'
import { ConfigError } from '../../src/errors.ts'
import { Budget, type SampleLimits } from '../../src/limit/budget.ts'
import type { Sample } from '../../src/sample/sample.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import type { ScorerContext } from '../../src/score/scorer.ts'

export interface TestContextOptions {
  readonly sample?: Partial<Sample>
  readonly sandbox?: Sandbox
  readonly services?: Readonly<Record<string, Sandbox>>
  readonly model?: AgentContext['model']
  readonly limits?: SampleLimits
  readonly signal?: AbortSignal
}

/** The context of one sample, with its events in a list. As in a run, asking for a sandbox or model that is not there is an error. */
export function agentContext(options: TestContextOptions = {}): AgentContext & { events: TranscriptEvent[] } {
  const events: TranscriptEvent[] = []
  return {
    events,
    sample: { id: 's1', input: 'What is six times seven?', ...options.sample },
    epoch: 1,
    get sandbox() {
      return options.sandbox ?? missing('sandbox')
    },
    get model() {
      return options.model ?? missing('model')
    },
    service: (name) => options.services?.[name] ?? missing(`service '${name}'`),
    state: { messages: [], output: '' },
    budget: new Budget(options.limits),
    transcript: { record: (event) => events.push(event) },
    signal: options.signal ?? new AbortController().signal,
  }
}

export function scorerContext(options: TestContextOptions & { output?: string } = {}): ScorerContext {
  return {
    sample: { id: 's1', input: 'What is six times seven?', ...options.sample },
    epoch: 1,
    state: { messages: [], output: options.output ?? '' },
    get sandbox() {
      return options.sandbox ?? missing('sandbox')
    },
    service: (name) => options.services?.[name] ?? missing(`service '${name}'`),
    signal: options.signal ?? new AbortController().signal,
  }
}

function missing(what: string): never {
  throw new ConfigError(`there is no ${what} in this test`)
}
