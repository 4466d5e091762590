import type { ModelOutput } from '../../model.ts'
import { answerOf } from './answer.ts'
import type { ResponsesCall } from './openai-responses.ts'
import { newId } from './parse.ts'

type OutputItem = Readonly<Record<string, unknown>>

interface OutputEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** What an answer consists of: thoughts, a message, calls of tools. */
export function outputItems(output: ModelOutput, { custom }: Pick<ResponsesCall, 'custom'>): OutputItem[] {
  const { reasoning, text, toolCalls } = answerOf(output)
  const items: OutputItem[] = reasoning.map((part) => ({
    id: newId('rs'),
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: part.text }],
  }))
  if (text !== '' || toolCalls.length === 0) {
    const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
    items.push({ id: newId('msg'), type: 'message', role: 'assistant', status: 'completed', content })
  }
  for (const { id, name, arguments: given } of toolCalls) {
    const call = { call_id: id, name, status: 'completed' }
    if (custom.has(name))
      items.push({ id: newId('ctc'), type: 'custom_tool_call', ...call, input: String(given.input ?? '') })
    else items.push({ id: newId('fc'), type: 'function_call', ...call, arguments: JSON.stringify(given) })
  }
  return items
}

/** The same as they come in a stream, each whole in one step. */
export function* responseEvents(items: readonly OutputItem[]): Generator<OutputEvent> {
  for (const [output_index, item] of items.entries()) {
    const at = { output_index, item_id: item.id }
    yield { type: 'response.output_item.added', output_index, item: begun(item) }
    if (item.type === 'message') yield* messageEvents(item, at)
    else if (item.type === 'function_call') {
      yield { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments }
      yield {
        type: 'response.function_call_arguments.done',
        ...at,
        name: item.name,
        arguments: item.arguments,
      }
    } else if (item.type === 'custom_tool_call') {
      yield { type: 'response.custom_tool_call_input.delta', ...at, delta: item.input }
      yield { type: 'response.custom_tool_call_input.done', ...at, input: item.input }
    }
    yield { type: 'response.output_item.done', output_index, item }
  }
}

function begun(item: OutputItem): OutputItem {
  if (item.type === 'message') return { ...item, status: 'in_progress', content: [] }
  if (item.type === 'function_call') return { ...item, status: 'in_progress', arguments: '' }
  if (item.type === 'custom_tool_call') return { ...item, status: 'in_progress', input: '' }
  return item
}

function* messageEvents(item: OutputItem, at: object): Generator<OutputEvent> {
  const [part] = item.content as readonly { text: string }[]
  const where = { ...at, content_index: 0 }
  const text = part?.text ?? ''
  yield { type: 'response.content_part.added', ...where, part: { ...part, text: '' } }
  yield { type: 'response.output_text.delta', ...where, delta: text, logprobs: [] }
  yield { type: 'response.output_text.done', ...where, text, logprobs: [] }
  yield { type: 'response.content_part.done', ...where, part }
}
