import { ConfigError } from '../../errors.ts'
import type { HeaderRecord } from '../../log/records/records.ts'
import { choice } from '../../score/choice.ts'
import { exact } from '../../score/exact.ts'
import { f1 } from '../../score/f1.ts'
import { includes } from '../../score/includes.ts'
import { match } from '../../score/match.ts'
import { math } from '../../score/math/math.ts'
import { modelGraded } from '../../score/model-graded.ts'
import type { Scorer } from '../../score/scorer.ts'
import { type NamedScorer, namedScorers } from '../../score/scorer-names.ts'
import { type LoadedTask, loadTasks } from '../../task/load-tasks.ts'
import type { Task } from '../../task/task.ts'
import { recordedTask } from '../recorded-task.ts'

/** Scorers that need no arguments, by name. */
const BUILT_IN: Readonly<Record<string, () => Scorer>> = {
  choice,
  exact,
  f1,
  includes,
  match,
  math,
  model_graded: modelGraded,
}

export interface LogScorersOptions {
  readonly log: string
  readonly header: HeaderRecord
  /** Task file; left out: that of the log. */
  readonly file?: string | undefined
  /** Left out: all of the task that need no sandbox. */
  readonly names?: readonly string[] | undefined
  readonly alias?: Readonly<Record<string, string>>
}

export interface LogScorers {
  readonly scorers: readonly Scorer[]
  /** Of the task that cannot judge a log. */
  readonly passedOver: readonly string[]
  readonly task: Task | undefined
}

/** What a log is to be scored with: scorers of its task, or of a task file, or built-in ones by name. @throws ConfigError */
export async function logScorers(options: LogScorersOptions): Promise<LogScorers> {
  const { log, names } = options
  const task = await taskOf(options)
  const own = namedScorers(task?.definition.scorers ?? [])
  if (names) return { scorers: names.map((name) => byName(name, own)), passedOver: [], task }
  if (!task)
    throw new ConfigError(
      `its task is not known; name a task file, or one of the scorers ${Object.keys(BUILT_IN).join(', ')} with --scorer`,
      { where: log },
    )
  const [usable, passedOver] = [false, true].map((needs) =>
    own.filter(({ scorer }) => (scorer.needsSandbox ?? false) === needs),
  )
  if (!usable || usable.length === 0)
    throw new ConfigError(
      `its task has no scorer that could score a log again${own.length > 0 ? ': all of them act in the sandbox' : ''}`,
      { where: log },
    )
  return {
    scorers: usable.map(({ scorer }) => scorer),
    passedOver: (passedOver ?? []).map(({ name }) => name),
    task,
  }
}

function byName(name: string, own: readonly NamedScorer[]): Scorer {
  const found = own.find((one) => one.name === name)?.scorer
  if (found) return found
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined
  if (builtIn) return builtIn()
  const known = [...own.map((one) => one.name), ...Object.keys(BUILT_IN)]
  throw new ConfigError(`there is no scorer '${name}'; known are ${[...new Set(known)].join(', ')}`, {
    where: '--scorer',
  })
}

/** undefined where no file is named and the log names none that can be loaded here. */
async function taskOf({ log, header, file, names, alias }: LogScorersOptions): Promise<Task | undefined> {
  if (file !== undefined) return (await taskIn(file, { log, header, alias })).task
  const recorded = header.task.file
  if (recorded === undefined || header.belljar === '') return undefined
  const task = recordedTask(header, { log, file: recorded, alias })
  // Built-in scorers need no task.
  return (await (names ? task.catch(() => undefined) : task))?.task
}

/** The task of the log, else the only one there is. */
async function taskIn(
  file: string,
  { log, header, alias }: Omit<LogScorersOptions, 'names'>,
): Promise<LoadedTask> {
  try {
    return await recordedTask(header, { log, file, alias })
  } catch (error) {
    const [only, ...more] = await loadTasks(file, { alias })
    if (only && more.length === 0) return only
    throw error
  }
}
