import type { RunEvent } from '../../run/run-event.ts'
import { escapeLine } from '../../util/terminal.ts'

/** What evals are called where people read: by their task, and by their model where a task is run with several. */
export class EvalNames {
  readonly #models = new Map<string, string | undefined>()
  /** Models by task. */
  readonly #byTask = new Map<string, Set<string | undefined>>()

  /** Events that tell of a new eval come before any other of it. */
  take(event: RunEvent): void {
    if (event.type === 'eval-start') this.add(event.eval, event.task, event.header.model)
  }

  add(evalId: string, task: string, model: string | undefined): void {
    this.#models.set(evalId, model)
    const models = this.#byTask.get(task) ?? new Set()
    this.#byTask.set(task, models.add(model))
  }

  of({ eval: evalId, task }: { readonly eval: string; readonly task: string }): string {
    const name = escapeLine(task, 60)
    const isOneOfMany = (this.#byTask.get(task)?.size ?? 0) > 1
    return isOneOfMany ? `${name} (${escapeLine(this.#models.get(evalId) ?? 'no model', 60)})` : name
  }
}
