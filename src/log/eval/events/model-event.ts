import { isDeepStrictEqual } from 'node:util'
import type { LoggedCall, ModelEvent } from '../../../agent/transcript.ts'
import { fromEvalConfig, toEvalConfig } from '../header/generate-config.ts'
import type { Attachments } from '../messages/attachments.ts'
import type { MessagePool } from '../messages/message-pool.ts'
import { fromChatMessage, fromModelOutput, toModelOutput } from '../messages/messages.ts'
import type { EvalModelEvent } from '../schema/events.ts'
import type { ChatMessage, EvalModelOutput } from '../schema/values.ts'

type Payload = Omit<EvalModelEvent, 'uuid' | 'span_id' | 'timestamp' | 'working_start'>

/** What Inspect's form has no place for, or no place that is not filled in otherwise. */
interface OwnFields {
  readonly inputFrom?: number
  readonly inputCount?: number
  readonly hasRefs?: boolean
  readonly config?: ModelEvent['config']
  readonly tools?: ModelEvent['tools']
  readonly toolChoice?: ModelEvent['toolChoice']
  readonly warnings?: readonly string[]
  readonly call?: Pick<LoggedCall, 'itemsFrom'> & { readonly itemCount?: number }
}

export function toEvalModelEvent(
  event: ModelEvent,
  { attachments, pool }: { attachments: Attachments; pool: MessagePool },
): Payload {
  const { model, role, output, error, call, toolChoice = 'auto', config, durationMs, startedMs } = event
  const { refs, outputId, tools, ownTools } = pool.add(event)
  const evalConfig = toEvalConfig(config)
  return {
    event: 'model',
    model,
    role,
    input: [],
    input_refs: refs,
    tools,
    tool_choice: typeof toolChoice === 'string' ? toolChoice : { ...toolChoice },
    config: evalConfig,
    output: output ? detachOutput(toModelOutput(output, { model, id: outputId }), attachments) : {},
    error,
    retries: output?.retries,
    cache: output?.cache,
    call: call && toEvalCall(call),
    completed: new Date(startedMs + durationMs).toISOString(),
    working_time: durationMs / 1000,
    metadata: { belljar: { ...ownFields(event), ...(ownTools ? { tools: ownTools } : {}) } },
  }
}

function ownFields({ inputFrom, input, inputRefs, config, toolChoice, output, call }: ModelEvent): OwnFields {
  const isLossless = isDeepStrictEqual(config, fromEvalConfig(toEvalConfig(config)))
  return {
    inputFrom,
    inputCount: input.length,
    hasRefs: inputRefs !== undefined,
    ...(isLossless ? {} : { config }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(output?.warnings ? { warnings: output.warnings } : {}),
    ...(call ? { call: { itemsFrom: call.itemsFrom, itemCount: call.items?.length } } : {}),
  }
}

function toEvalCall({ request, response, key, itemsRefs }: LoggedCall): Payload['call'] {
  return {
    request: { ...request },
    response: isRecord(response) || response === undefined ? response : { body: response },
    call_refs: itemsRefs?.map(([start, end]): [number, number] => [start, end]),
    call_key: key,
  }
}

/** Inspect resolves references in what was said, and not in the text that repeats it. */
function detachOutput(
  { choices = [], ...output }: EvalModelOutput,
  attachments: Attachments,
): EvalModelOutput {
  const detached = choices.map((choice) => ({
    ...choice,
    message: { ...choice.message, content: attachments.detach(choice.message.content) },
  }))
  return { ...output, choices: detached, completion: undefined }
}

export interface Pools {
  readonly messages: readonly ChatMessage[]
  readonly calls: readonly unknown[]
}

/** Our event, or what Inspect's says in our terms, without times. */
export function fromEvalModelEvent(
  event: EvalModelEvent,
  pools: Pools,
): Omit<ModelEvent, 'startedMs' | 'durationMs'> {
  const own = (event.metadata?.belljar ?? {}) as OwnFields
  const refs = event.input_refs ?? []
  const isOurs = own.inputFrom !== undefined
  const { inputFrom = 0, inputCount = 0 } = own
  const chats = isOurs
    ? pools.messages.slice(inputFrom, inputFrom + inputCount)
    : [...event.input, ...refs.flatMap(([start, end]) => pools.messages.slice(start, end))]
  return {
    type: 'model-output',
    model: event.model,
    inputFrom,
    input: chats.map(fromChatMessage),
    ...(own.hasRefs ? { inputRefs: refs } : {}),
    ...(event.role ? { role: event.role } : {}),
    ...settings(event, own),
    ...result(event, own),
    ...(event.call ? { call: fromEvalCall(event.call, own, pools) } : {}),
  }
}

function settings(event: EvalModelEvent, own: OwnFields): Partial<ModelEvent> {
  const config = own.config ?? fromEvalConfig(event.config)
  return {
    ...(own.tools ? { tools: own.tools } : {}),
    ...(own.toolChoice === undefined ? {} : { toolChoice: own.toolChoice }),
    ...(config ? { config } : {}),
  }
}

function result(event: EvalModelEvent, { warnings }: OwnFields): Partial<ModelEvent> {
  const output = fromModelOutput(event.output)
  const { retries, cache, error } = event
  const more = {
    ...(warnings ? { warnings } : {}),
    ...(typeof retries === 'number' ? { retries } : {}),
    ...(cache ? { cache } : {}),
  }
  return { ...(output ? { output: { ...output, ...more } } : {}), ...(error ? { error } : {}) }
}

function fromEvalCall(
  { request, response, call_refs, call_key }: NonNullable<EvalModelEvent['call']>,
  { call }: OwnFields,
  { calls }: Pools,
): LoggedCall {
  const { itemsFrom, itemCount = 0 } = call ?? {}
  return {
    request,
    ...(response === undefined || response === null ? {} : { response }),
    ...(itemsFrom === undefined ? {} : { items: calls.slice(itemsFrom, itemsFrom + itemCount), itemsFrom }),
    ...(call_key ? { key: call_key } : {}),
    ...(call_refs ? { itemsRefs: call_refs } : {}),
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
