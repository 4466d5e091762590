import type { Sleep } from '../../../util/abort.ts'
import type { LeftObject } from '../../provider.ts'
import type { Engine } from '../engine/engine.ts'
import { type ListedObject, removeObjects } from '../remove.ts'
import { Looks } from './looks.ts'
import { type SurveyedRun, survey, sweepable } from './survey.ts'
import { SECOND_LOOK_MS } from './verdict.ts'

/** A clock that never jumps, and pauses on it. */
export interface SweepClock {
  now(): number
  readonly sleep: Sleep
}

export interface SweepOptions {
  readonly engine: Engine
  /** The run that sweeps: never touched. */
  readonly run: string
  readonly clock: SweepClock
  readonly note: (level: 'info' | 'warning', message: string) => void
  readonly signal: AbortSignal
}

/** Few at a time: the run that sweeps starts its own sandboxes meanwhile. */
const AT_ONCE = 2
const BUDGET_MS = 30_000
const LOOKS = 4
const BETWEEN_LOOKS_MS = SECOND_LOOK_MS + 1000

/** Removes what dead runs have left on an engine, and looks again where one look proves nothing. Never throws. */
export class Sweep {
  readonly #options: SweepOptions
  readonly #looks: Looks

  constructor(options: SweepOptions) {
    this.#options = options
    this.#looks = new Looks(options.run)
  }

  /** `firstLook` resolves when what is proved dead at once has been removed; `done` after the second looks. */
  begin(): { firstLook: Promise<void>; done: Promise<void> } {
    const first = this.#look()
    return { firstLook: first.then(() => undefined), done: first.then((suspects) => this.#goOn(suspects)) }
  }

  async #goOn(suspects: number): Promise<void> {
    const { clock, signal } = this.#options
    for (let look = 1; look < LOOKS && suspects > 0 && !signal.aborted; look += 1) {
      await clock.sleep(BETWEEN_LOOKS_MS, signal).catch(() => undefined)
      if (!signal.aborted) suspects = await this.#look()
    }
  }

  /** Resolves to how many runs may be dead, or are no longer to be seen. */
  async #look(): Promise<number> {
    const { engine, clock, signal, note } = this.#options
    try {
      const runs = await survey(engine, signal)
      const verdicts = this.#looks.take(runs, clock.now())
      const dead = runs.filter(({ run }) => verdicts.get(run) === 'dead')
      await this.#remove(dead.filter((run) => sweepable(run).length > 0))
      return [...verdicts.values()].filter((verdict) => verdict === 'suspect').length
    } catch (error) {
      if (!signal.aborted) note('warning', `could not look for what earlier runs left: ${String(error)}`)
      return 0
    }
  }

  async #remove(runs: readonly SurveyedRun[]): Promise<void> {
    if (runs.length === 0) return
    const { engine, signal, note } = this.#options
    const objects = runs.flatMap(sweepable)
    const { left } = await removeObjects(engine, objects, { signal, atOnce: AT_ONCE, budgetMs: BUDGET_MS })
    if (signal.aborted) return
    note(left.length > 0 ? 'warning' : 'info', sweepMessage(runs.length, objects, left))
  }
}

function sweepMessage(runs: number, objects: readonly ListedObject[], left: readonly LeftObject[]): string {
  const kept = new Set(left.map(({ kind, name }) => `${kind} ${name}`))
  const gone = objects.filter(({ kind, name }) => !kept.has(`${kind} ${name}`))
  const counts = (['container', 'network', 'volume'] as const)
    .map((kind) => [gone.filter((object) => object.kind === kind).length, kind] as const)
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count} ${kind}${count === 1 ? '' : 's'}`)
  const removed = `removed what ${runs} dead ${runs === 1 ? 'run' : 'runs'} had left: ${counts.join(', ') || 'nothing'}`
  if (left.length === 0) return removed
  return `${removed}; could not remove: ${left.map(({ command, reason }) => `${command} (${reason})`).join('; ')}`
}
