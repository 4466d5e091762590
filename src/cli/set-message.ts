import { basename } from 'node:path'
import type { SetEvent } from '../run/set/set-event.ts'
import type { SetTaskResult } from '../run/set/set-options.ts'
import { describeTask } from '../run/set/set-task.ts'
import { age } from '../util/quantities.ts'
import { escapeLine, table } from '../util/terminal.ts'

const SHOWN = 5

/** An event of a set as a line. */
export function setMessage(event: SetEvent): string | undefined {
  switch (event.type) {
    case 'set-start':
      return `set of ${count(event.tasks)} in ${event.logDir}`
    case 'set-attempt':
      return event.attempt === 1 ? undefined : `set: attempt ${event.attempt}: ${names(event.tasks)}`
    case 'set-pause':
      return `set: next attempt in ${age(event.ms)}: ${names(event.again)}`
    case 'set-removed':
      return `set: ${basename(event.log)} removed, all of it is in ${basename(event.keptIn)}`
    case 'set-note':
      return `set: ${event.level === 'info' ? '' : `${event.level}: `}${escapeLine(event.message, 1000)}`
    case 'set-end':
      return undefined
  }
}

/** What became of the tasks of a set. */
export function setSummary(tasks: readonly SetTaskResult[]): string {
  const complete = tasks.filter(({ state }) => state === 'complete').length
  const wasRun = tasks.some(({ eval: last }) => last && !last.wasComplete)
  if (complete === tasks.length && !wasRun)
    return `set: ${tasks.length === 0 ? 'no task in this part' : `all complete already (${count(tasks.length)}), nothing was run`}`
  const rows = tasks.map((task) => [
    escapeLine(describeTask(task), 100),
    task.state,
    task.log ?? '-',
    escapeLine(task.why ?? '', 300),
  ])
  const heading = `set: ${complete} of ${count(tasks.length)} complete`
  return `${heading}\n${table([['task', 'state', 'log', 'why'], ...rows])}`
}

function names(tasks: readonly string[]): string {
  const shown = tasks.slice(0, SHOWN).map((name) => escapeLine(name, 100))
  return tasks.length > SHOWN ? `${shown.join(', ')} and ${tasks.length - SHOWN} more` : shown.join(', ')
}

function count(tasks: number): string {
  return tasks === 1 ? '1 task' : `${tasks} tasks`
}
