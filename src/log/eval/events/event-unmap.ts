import type { ToolErrorKind } from '../../../agent/messages.ts'
import type { TranscriptEvent } from '../../../agent/transcript.ts'
import type { SandboxEvent } from '../../../sandbox/recorded-sandbox.ts'
import { fromToolErrorType } from '../messages/messages.ts'
import type { EvalEvent, EvalModelEvent, EvalSandboxEvent, EvalToolEvent } from '../schema/events.ts'
import { fromEvalModelEvent, type Pools } from './model-event.ts'

/** Our event behind one of a log's, attachments resolved; undefined for those that only frame a sample. Also reads events that Inspect wrote. */
export function fromEvalEvent(event: EvalEvent, pools: Pools): TranscriptEvent | undefined {
  const { span } = ours(event)
  const read = withoutSpan(event, pools)
  return read && typeof span === 'string' ? { ...read, span } : read
}

function withoutSpan(event: EvalEvent, pools: Pools): TranscriptEvent | undefined {
  switch (event.event) {
    case 'model':
      return { ...fromEvalModelEvent(event, pools), ...times(event) }
    case 'tool':
      return toolEvent(event)
    case 'sandbox':
      return sandboxEvent(event)
    case 'info': {
      const { type } = ours(event)
      if (typeof type === 'string') return { ...(event.data as object), type } as TranscriptEvent
      return { type: 'info', startedMs: startOf(event), source: event.source ?? '', data: event.data }
    }
    case 'span_begin': {
      const { id, name } = event
      const { own, parent } = ours(event)
      if (!own) return undefined
      const outer = typeof parent === 'string' ? { parent } : {}
      return { type: 'span-begin', startedMs: startOf(event), id, name, ...outer }
    }
    case 'span_end':
      return ours(event).own ? { type: 'span-end', startedMs: startOf(event), id: event.id } : undefined
    default:
      return undefined
  }
}

function toolEvent(event: EvalToolEvent): TranscriptEvent {
  const { id, function: name, arguments: args, result, error } = event
  const { parseError, errorKind } = ours(event) as { parseError?: string; errorKind?: ToolErrorKind }
  return {
    type: 'tool-call',
    ...times(event),
    call: { id, name, arguments: args, ...(parseError === undefined ? {} : { parseError }) },
    result: typeof result === 'string' ? result : JSON.stringify(result ?? ''),
    ...(error ? { error: { kind: errorKind ?? fromToolErrorType(error.type), message: error.message } } : {}),
  }
}

const ACTIONS = { exec: 'exec', read_file: 'read', write_file: 'write' } as const

function sandboxEvent(event: EvalSandboxEvent): SandboxEvent {
  const { hasOutput, durationMs, order, span, ...facts } = ours(event) as Partial<SandboxEvent> & {
    hasOutput?: boolean
    order?: number
    span?: string
  }
  const isOurs = hasOutput !== undefined
  const output = isOurs && !hasOutput ? undefined : (event.output ?? undefined)
  return {
    type: 'sandbox-call',
    ...times(event),
    ...(durationMs === undefined ? {} : { durationMs }),
    service: 'default',
    action: ACTIONS[event.action],
    ...(isOurs ? {} : { exitCode: event.result, command: event.cmd ? [event.cmd] : undefined }),
    ...facts,
    ...(event.file ? { path: event.file } : {}),
    ...(output === undefined ? {} : { output }),
  }
}

/** Place of one of our events in the order in which they were recorded. */
export function orderOf(event: EvalEvent): number | undefined {
  const { order } = ours(event)
  return typeof order === 'number' ? order : undefined
}

function ours({ metadata }: EvalEvent): Readonly<Record<string, unknown>> {
  return (metadata?.belljar ?? {}) as Record<string, unknown>
}

function startOf({ timestamp }: EvalEvent): number {
  return timestamp === undefined ? 0 : Date.parse(timestamp)
}

function times(event: EvalModelEvent | EvalToolEvent | EvalSandboxEvent) {
  const startedMs = startOf(event)
  const { working_time } = event as { working_time?: number | null }
  if (typeof working_time === 'number') return { startedMs, durationMs: Math.round(working_time * 1000) }
  const endedMs = event.completed ? Date.parse(event.completed) : startedMs
  return { startedMs, durationMs: endedMs - startedMs }
}
