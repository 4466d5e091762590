import { AsyncLocalStorage } from 'node:async_hooks'
import { ConfigError } from '../errors.ts'
import type { Sample } from '../sample/sample.ts'

/** What a task's `setup` is given: it runs once, after the data set was read and before anything is logged or started. */
export interface TaskSetupContext {
  /** By name, as they were passed or declared. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Absolute folder that relative paths of the task start at. */
  readonly directory: string
  /** The seed, as far as it is run. */
  readonly samples: readonly Sample[]
  /** Records the value of a parameter that the run really goes by. */
  effective(name: string, value: unknown): void
}

/** An error ends the run before it has begun. */
export type TaskSetup = (context: TaskSetupContext) => void | Promise<void>

const current = new AsyncLocalStorage<TaskSetupContext>()

/** Runs a task's setup; what it calls can reach its context. */
export async function insideSetup(
  context: TaskSetupContext,
  code: () => void | Promise<void>,
): Promise<void> {
  await current.run(context, code)
}

/** For helpers that a setup calls. @throws ConfigError outside one */
export function currentSetup(what: string): TaskSetupContext {
  const context = current.getStore()
  if (context) return context
  throw new ConfigError(
    `${what} can only be called by the setup of a task: defineTask({ setup: async () => … })`,
  )
}
