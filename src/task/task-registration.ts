import type { ParameterRecords } from './task-parameters.ts'

export const TASK_STATUSES = ['stable', 'experimental', 'deprecated'] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

/** What a task was defined as. */
export interface TaskRegistration {
  /** undefined: named for its file. */
  readonly name: string | undefined
  /** undefined: it declares none, and takes none. */
  readonly parameters: ParameterRecords | undefined
}

const registered = new WeakMap<object, TaskRegistration>()

/** Keeps what a task was defined as beside that exact object: a copy, a wrapper or an object made from it has none of it. */
export function registerTask(task: object, registration: TaskRegistration): void {
  registered.set(task, registration)
}

export function registrationOf(task: object): TaskRegistration | undefined {
  return registered.get(task)
}
