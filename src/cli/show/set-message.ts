import { basename } from 'node:path'
import { describeTask } from '../../run/set/plan/set-task.ts'
import type { SetEvent } from '../../run/set/set-event.ts'
import type { SetTaskResult } from '../../run/set/set-options.ts'
import { age } from '../../util/quantities.ts'
import { escapeLine, table } from '../../util/terminal.ts'

/** An event of a set as a line. */
export function setMessage(event: SetEvent): string | undefined {
  switch (event.type) {
    case 'set-start':
      return `set of ${count(event.tasks)} in ${event.logDir}`
    case 'set-again':
      return `set: ${escapeLine(event.name)} is tried again in ${age(event.pauseMs)} (attempt ${event.attempt}): ${escapeLine(event.why)}`
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

function count(tasks: number): string {
  return tasks === 1 ? '1 task' : `${tasks} tasks`
}
