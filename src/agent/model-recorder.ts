import { isDeepStrictEqual } from 'node:util'
import { loggedCall } from './logged-call.ts'
import type { Message } from './messages.ts'
import type { GenerateConfig, ModelRequest, RawCall, ToolDescription } from './model.ts'
import { PlacedList } from './placed-list.ts'
import type { ModelEvent, ModelRetryEvent, Transcript } from './transcript.ts'

export type CallFacts = Pick<ModelEvent, 'startedMs' | 'durationMs' | 'model' | 'role' | 'output' | 'error'>

/** Records the model calls of one sample so that an event is as long as what is new in its call. One for all that calls models in the sample. */
export class ModelRecorder {
  readonly #transcript: Transcript
  readonly #messages = new PlacedList<Message>()
  readonly #raw = new PlacedList<object>()
  #tools: readonly ToolDescription[] | undefined

  constructor(transcript: Transcript) {
    this.#transcript = transcript
  }

  retry(facts: Omit<ModelRetryEvent, 'type'>): void {
    this.#transcript.record({ type: 'model-retry', ...facts })
  }

  record(facts: CallFacts, request: ModelRequest, call: RawCall | undefined): void {
    const { messages, tools, toolChoice, config } = request
    const { added, from, refs } = this.#messages.place(messages)
    if (facts.output) this.#messages.append(facts.output.message)
    const isSameTools = isDeepStrictEqual(tools, this.#tools)
    this.#tools = tools
    this.#transcript.record({
      type: 'model-output',
      input: added,
      inputFrom: from,
      inputRefs: refs,
      tools: isSameTools ? undefined : tools,
      toolChoice,
      config: isEmpty(config) ? undefined : config,
      call: call && loggedCall(call, this.#raw),
      ...facts,
    })
  }
}

function isEmpty(config: GenerateConfig = {}): boolean {
  return Object.values(config).every((value) => value === undefined)
}
