import type { Phase, RunEvent } from '../../run/run-event.ts'
import type { SetEvent } from '../../run/set/set-event.ts'
import { steadyNow } from '../../util/clock.ts'
import { age } from '../../util/quantities.ts'
import { escapeLine } from '../../util/terminal.ts'
import { EvalNames } from './eval-names.ts'

interface Doing {
  readonly phase: Phase
  readonly sinceMs: number
}

/** From when on a sample is worth a word. */
const LONG_MS = 30_000

interface EvalProgress {
  readonly task: string
  readonly eval: string
  total: number
  done: number
  errors: number
  abandoned: number
  readonly running: Map<string, Doing>
  /** Configurations that are being made ready, and since when. */
  readonly preparing: Map<string, number>
  ended: boolean
}

/** What a run's events add up to, for showing. */
export class ProgressState {
  readonly names: EvalNames
  readonly #evals = new Map<string, EvalProgress>()
  readonly #now: () => number
  /** When tasks of a set are tried again. */
  #dueMs: number[] = []

  constructor(now: () => number = steadyNow, names = new EvalNames()) {
    this.names = names
    this.#now = now
  }

  take(event: RunEvent | SetEvent): void {
    if (event.type === 'set-again') this.#dueMs.push(this.#now() + event.pauseMs)
    if (!('task' in event)) return
    this.names.take(event)
    const progress = this.#eval(event)
    if (event.type === 'samples-added') progress.total = event.total
    if (event.type === 'sample-phase') {
      const doing = { phase: event.phase, sinceMs: this.#now() }
      progress.running.set(`${event.id} ${event.epoch}`, doing)
    }
    if (event.type === 'config-begin') progress.preparing.set(event.description, this.#now())
    if (event.type === 'config-ready' || event.type === 'config-failed')
      progress.preparing.delete(event.description)
    if (event.type === 'eval-end') progress.ended = true
    if (event.type === 'sample-abandoned') {
      progress.running.delete(`${event.id} ${event.epoch}`)
      progress.abandoned++
    }
    if (event.type === 'sample-reused') progress.done++
    if (event.type !== 'sample-end') return
    progress.running.delete(`${event.record.id} ${event.record.epoch}`)
    progress.done++
    if (event.record.status === 'error') progress.errors++
  }

  /** Whether there were tasks, and all have ended. */
  get hasEnded(): boolean {
    return this.#evals.size > 0 && [...this.#evals.values()].every(({ ended }) => ended)
  }

  /** One line for each eval that is under way, or what is waited for. */
  lines(): string[] {
    const nowMs = this.#now()
    const lines = [...this.#evals.values()]
      .filter(({ ended }) => !ended)
      .map((progress) => `${this.names.of(progress)}: ${describe(progress, nowMs)}`)
    this.#dueMs = this.#dueMs.filter((dueMs) => dueMs > nowMs)
    if (lines.length > 0 || this.#dueMs.length === 0) return lines
    return [`set: next attempt in ${age(Math.min(...this.#dueMs) - nowMs)}`]
  }

  #eval({ task, eval: evalId }: { readonly task: string; readonly eval: string }): EvalProgress {
    let progress = this.#evals.get(evalId)
    if (!progress) {
      progress = {
        task,
        eval: evalId,
        total: 0,
        done: 0,
        errors: 0,
        abandoned: 0,
        running: new Map(),
        preparing: new Map(),
        ended: false,
      }
      this.#evals.set(evalId, progress)
    }
    return progress
  }
}

function describe(progress: EvalProgress, nowMs: number): string {
  const { total, done, errors, abandoned, running, preparing } = progress
  const phases = new Map<Phase, number>()
  for (const { phase } of running.values()) phases.set(phase, (phases.get(phase) ?? 0) + 1)
  const now = [...phases].map(([phase, count]) => `${phase} ${count}`).join(', ')
  const parts = [`${done} of ${total} done`]
  if (errors > 0) parts.push(`${errors} with errors`)
  if (abandoned > 0) parts.push(`${abandoned} abandoned`)
  if (now !== '') parts.push(`now: ${now}`)
  const [first] = preparing
  if (first) parts.push(`preparing ${preparation(first, nowMs)}`)
  const longest = longestOf(running, nowMs)
  if (longest !== undefined) parts.push(`longest: ${longest}`)
  return parts.join('; ')
}

function preparation([description, sinceMs]: [string, number], nowMs: number): string {
  return `${escapeLine(description, 60)} for ${Math.round((nowMs - sinceMs) / 1000)} s`
}

function longestOf(running: ReadonlyMap<string, Doing>, nowMs: number): string | undefined {
  const [first] = [...running].sort(([, a], [, b]) => a.sinceMs - b.sinceMs)
  if (!first || nowMs - first[1].sinceMs < LONG_MS) return undefined
  const [name, { phase, sinceMs }] = first
  const [id = '', epoch] = [name.slice(0, name.lastIndexOf(' ')), name.slice(name.lastIndexOf(' ') + 1)]
  return `sample ${escapeLine(id, 60)} (epoch ${epoch}) in ${phase} for ${Math.round((nowMs - sinceMs) / 1000)} s`
}
