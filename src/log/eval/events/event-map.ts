import type { InfoEvent, ToolEvent, TranscriptEvent } from '../../../agent/transcript.ts'
import type { SandboxEvent } from '../../../sandbox/recorded-sandbox.ts'
import type { Attachments } from '../messages/attachments.ts'
import type { MessagePool } from '../messages/message-pool.ts'
import { toToolError } from '../messages/messages.ts'
import type { EvalEvent, EvalInfoEvent, EvalSandboxEvent, EvalToolEvent } from '../schema/events.ts'
import { toEvalModelEvent } from './model-event.ts'

export interface EventMapOptions {
  readonly attachments: Attachments
  readonly pool: MessagePool
}

type Payload<T> = Omit<T, 'uuid' | 'span_id' | 'timestamp' | 'working_start'>

/** One of our events in Inspect's form. What their form has no place for is under `metadata.belljar`, which also marks the event as one of ours. */
export function toEvalEvent(event: TranscriptEvent, options: EventMapOptions): Payload<EvalEvent> {
  switch (event.type) {
    case 'model-output':
      return toEvalModelEvent(event, options)
    case 'tool-call':
      return toolEvent(event, options)
    case 'sandbox-call':
      return sandboxEvent(event, options)
    case 'info':
      return infoEvent(event, options)
    case 'span-begin': {
      const { id, name, parent } = event
      return {
        event: 'span_begin',
        id,
        name,
        type: 'agent',
        parent_id: parent,
        metadata: { belljar: { own: true, parent } },
      }
    }
    case 'span-end':
      return { event: 'span_end', id: event.id, metadata: { belljar: { own: true } } }
    default:
      return foreignEvent(event, options)
  }
}

function toolEvent(event: ToolEvent, { attachments }: EventMapOptions): Payload<EvalToolEvent> {
  const { call, result, error } = event
  return {
    event: 'tool',
    type: 'function',
    id: call.id,
    function: call.name,
    arguments: attachments.detach({ ...call.arguments }),
    result,
    error: error && toToolError(error),
    failed: error ? true : undefined,
    ...timing(event),
    metadata: { belljar: { parseError: call.parseError, errorKind: error?.kind } },
  }
}

const ACTIONS: Partial<Record<SandboxEvent['action'], EvalSandboxEvent['action']>> = {
  exec: 'exec',
  spawn: 'exec',
  read: 'read_file',
  write: 'write_file',
}

function sandboxEvent(
  event: SandboxEvent,
  options: EventMapOptions,
): Payload<EvalSandboxEvent | EvalInfoEvent> {
  const { type, startedMs, durationMs, action, path, output, exitCode, ...more } = event
  const known = ACTIONS[action]
  if (known === undefined) return foreignEvent(event, options)
  const { command, error } = event
  return {
    event: 'sandbox',
    action: known,
    cmd: command && shellWords(command),
    options: event.options && { ...event.options, service: event.service },
    file: path,
    result: exitCode ?? undefined,
    output: output ?? error?.message,
    completed: completed(event),
    metadata: {
      belljar: { ...more, action, durationMs, hasOutput: output !== undefined, exitCode },
    },
  }
}

function infoEvent({ source, data }: InfoEvent, { attachments }: EventMapOptions): Payload<EvalInfoEvent> {
  return { event: 'info', source, data: attachments.detach(data ?? null), metadata: { belljar: {} } }
}

/** For what Inspect has no event of its own: the event itself, as data. */
function foreignEvent(event: TranscriptEvent, { attachments }: EventMapOptions): Payload<EvalInfoEvent> {
  const { type, ...data } = event
  return {
    event: 'info',
    source: `belljar/${type}`,
    data: attachments.detach(data),
    metadata: { belljar: { type } },
  }
}

function timing({ startedMs, durationMs }: { startedMs: number; durationMs: number }) {
  return { completed: completed({ startedMs, durationMs }), working_time: durationMs / 1000 }
}

function completed({ startedMs, durationMs }: { startedMs: number; durationMs: number }): string {
  return new Date(startedMs + durationMs).toISOString()
}

/** An argv as a shell would need it written. */
function shellWords(command: readonly string[]): string {
  return command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`))
    .join(' ')
}
