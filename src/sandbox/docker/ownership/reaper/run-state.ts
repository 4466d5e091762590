import type { ReaperEngine, ReaperMessage } from './messages.ts'

interface Creation {
  readonly engine: string
  readonly kind: string
  readonly name: string
}

/** What a run has told so far. */
export class RunState {
  readonly engines = new Map<string, ReaperEngine>()
  readonly kept = new Set<string>()
  run = ''
  left = false
  readonly #creating = new Map<number, Creation>()

  take(message: ReaperMessage): void {
    if (message.type === 'run') this.run = message.run
    else if (message.type === 'engine') this.engines.set(message.engine.id, message.engine)
    else if (message.type === 'engine-done') this.engines.delete(message.id)
    else if (message.type === 'creating') this.#creating.set(message.number, message)
    else if (message.type === 'created') this.#creating.delete(message.number)
    else if (message.type === 'keep') this.kept.add(message.project)
    else this.left = true
  }

  /** Names of what may yet appear on an engine: its create call had no answer when the run died. */
  inFlight(engine: string): string[] {
    return [...this.#creating.values()].filter((one) => one.engine === engine).map(({ name }) => name)
  }
}
