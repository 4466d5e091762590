import { createLogUpdate } from 'log-update'
import type { RunEvent } from '../../run/run-event.ts'
import type { SetEvent } from '../../run/set/set-event.ts'
import type { LeftObject } from '../../sandbox/provider.ts'
import { escapeLine, escapeText } from '../../util/terminal.ts'
import type { EvalNames } from './eval-names.ts'
import type { Output } from './output.ts'
import { ProgressState } from './progress-state.ts'
import { setMessage } from './set-message.ts'

const HEARTBEAT_MS = 10_000
const REDRAW_MS = 200

/** Shows how a run goes on: redrawn in place in a terminal, elsewhere a heartbeat line at least every ten seconds. */
export class Progress implements Disposable {
  readonly #state = new ProgressState()
  readonly #output: Output
  readonly #left: () => readonly LeftObject[]
  readonly #timer: NodeJS.Timeout
  readonly #redraw = createLogUpdate(process.stderr)

  constructor(output: Output, left: () => readonly LeftObject[] = () => []) {
    this.#output = output
    this.#left = left
    this.#timer = setInterval(() => this.#show(), output.isTerminal ? REDRAW_MS : HEARTBEAT_MS)
    this.#timer.unref()
  }

  get names(): EvalNames {
    return this.#state.names
  }

  take(event: RunEvent | SetEvent): void {
    this.#state.take(event)
    const message = messageOf(event, this.names)
    if (message === undefined) return
    if (this.#output.isTerminal) this.#redraw.clear()
    this.#output.line(message)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    if (this.#output.isTerminal) this.#redraw.clear()
  }

  #show(): void {
    const left = this.#state.hasEnded ? removing(this.#left()) : []
    const lines = left.length > 0 ? left : this.#state.lines()
    if (this.#output.isTerminal) this.#redraw(lines.join('\n'))
    else for (const line of lines) this.#output.line(line)
  }
}

/** What goes on after the end of all tasks. */
function removing(left: readonly LeftObject[]): string[] {
  const [first] = left
  if (!first) return []
  const more = left.length > 1 ? ` and ${left.length - 1} more` : ''
  return [`removing ${first.kind} ${escapeLine(first.name, 100)}${more}`]
}

/** Events that deserve a line of their own. */
function messageOf(event: RunEvent | SetEvent, names: EvalNames): string | undefined {
  switch (event.type) {
    case 'eval-start':
      return startMessage(event, names.of(event))
    case 'config-ready':
      return `${names.of(event)}: sandbox ready: ${escapeLine(event.description)} (${(event.durationMs / 1000).toFixed(1)} s)`
    case 'config-failed':
      return `${names.of(event)}: sandbox failed: ${escapeLine(event.description)}\n${indented(event.message)}`
    case 'note':
      return `${names.of(event)}: ${event.level === 'info' ? '' : `${event.level}: `}${escapeLine(event.message)}`
    case 'run-note':
      return `${event.level === 'info' ? '' : 'warning: '}${escapeLine(event.message, 1000)}`
    case 'sample-end':
      return (
        event.record.error &&
        `${names.of(event)}: sample ${escapeLine(String(event.record.id), 60)} (epoch ${event.record.epoch}) failed:\n${indented(event.record.error.message)}`
      )
    case 'set-start':
    case 'set-again':
    case 'set-removed':
    case 'set-note':
    case 'set-end':
      return setMessage(event)
    default:
      return undefined
  }
}

function startMessage({ log, header }: Extract<RunEvent, { type: 'eval-start' }>, name: string): string {
  const { dataset, epochs, config } = header
  const model = header.model === undefined ? '' : `\n  model: ${escapeLine(header.model, 100)}`
  const samples =
    dataset.kind === 'source' ? `a source with a seed of ${dataset.samples}` : `${dataset.samples} samples`
  const sandboxes = counted(
    config.sandboxes.map(
      ({ description, reach }) => `${escapeLine(description, 100)} (${escapeLine(reach, 80)})`,
    ),
  )
  const where =
    sandboxes.length === 0
      ? ''
      : `\n  sandbox: ${sandboxes.slice(0, 5).join('; ')}${sandboxes.length > 5 ? `; ${sandboxes.length - 5} more` : ''}`
  const allow = config.allow?.map((name) => escapeLine(name, 100)) ?? []
  const allowed = allow.length > 0 ? `\n  allowed: ${allow.join(', ')}` : ''
  return `${name}: ${samples}, ${epochs === 1 ? '1 epoch' : `${epochs} epochs`}${model}${where}${allowed}\n  log: ${log}`
}

/** Each text once, with how often it was there. */
function counted(texts: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].map(([text, count]) => (count > 1 ? `${count} of ${text}` : text))
}

function indented(text: string): string {
  const lines = escapeText(text).split('\n')
  return lines
    .slice(-60)
    .map((line) => `  ${line}`)
    .join('\n')
}
