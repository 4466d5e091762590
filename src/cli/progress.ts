import { createLogUpdate } from 'log-update'
import type { RunEvent } from '../run/run-event.ts'
import type { LeftObject } from '../sandbox/provider.ts'
import { escapeLine, escapeText } from '../util/terminal.ts'
import type { Output } from './output.ts'
import { ProgressState } from './progress-state.ts'

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

  take(event: RunEvent): void {
    this.#state.take(event)
    const message = messageOf(event)
    if (message === undefined) return
    if (this.#output.isTerminal) this.#redraw.clear()
    this.#output.line(message)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    if (this.#output.isTerminal) this.#redraw.clear()
  }

  #show(): void {
    const lines = this.#state.hasEnded ? removing(this.#left()) : this.#state.lines()
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
function messageOf(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'eval-start':
      return startMessage(event)
    case 'config-ready':
      return `${escapeLine(event.task, 60)}: sandbox ready: ${escapeLine(event.description)} (${(event.durationMs / 1000).toFixed(1)} s)`
    case 'config-failed':
      return `${escapeLine(event.task, 60)}: sandbox failed: ${escapeLine(event.description)}\n${indented(event.message)}`
    case 'note':
      return `${escapeLine(event.task, 60)}: ${event.level === 'info' ? '' : `${event.level}: `}${escapeLine(event.message)}`
    case 'run-note':
      return `${event.level === 'info' ? '' : 'warning: '}${escapeLine(event.message, 1000)}`
    case 'sample-end':
      return (
        event.record.error &&
        `${escapeLine(event.task, 60)}: sample ${escapeLine(String(event.record.id), 60)} (epoch ${event.record.epoch}) failed:\n${indented(event.record.error.message)}`
      )
    default:
      return undefined
  }
}

function startMessage({ task, log, header }: Extract<RunEvent, { type: 'eval-start' }>): string {
  const { dataset, epochs, config } = header
  const samples =
    dataset.kind === 'source' ? `a source with a seed of ${dataset.samples}` : `${dataset.samples} samples`
  const sandboxes = config.sandboxes.map(
    ({ description, reach }) => `${escapeLine(description, 100)} (${escapeLine(reach, 80)})`,
  )
  const where =
    sandboxes.length === 0
      ? ''
      : `\n  sandbox: ${sandboxes.slice(0, 5).join('; ')}${sandboxes.length > 5 ? `; ${sandboxes.length - 5} more` : ''}`
  const allow = config.allow?.map((name) => escapeLine(name, 100)) ?? []
  const allowed = allow.length > 0 ? `\n  allowed: ${allow.join(', ')}` : ''
  return `${escapeLine(task, 60)}: ${samples}, ${epochs === 1 ? '1 epoch' : `${epochs} epochs`}${where}${allowed}\n  log: ${log}`
}

function indented(text: string): string {
  const lines = escapeText(text).split('\n')
  return lines
    .slice(-60)
    .map((line) => `  ${line}`)
    .join('\n')
}
