import { BelljarError } from '../errors.ts'
import type { Agent, AgentContext } from './agent.ts'

/** A text is run by `sh -c`, a list is an argv. */
export type ScriptedCommand = string | readonly string[]

export type ScriptedCommands =
  | readonly ScriptedCommand[]
  | ((context: AgentContext) => readonly ScriptedCommand[] | Promise<readonly ScriptedCommand[]>)

export interface ScriptedOptions {
  readonly user?: string
  readonly cwd?: string
  /** Deadline of each command in milliseconds; none means only the sample's own limits. */
  readonly timeoutMs?: number
}

/**
 * Runs fixed commands in the default service, one after the other, whatever their exit codes; the standard output of the last one becomes
 * the output. A command that cannot be started is a BelljarError `command-not-started`.
 */
export function scripted(commands: ScriptedCommands, options: ScriptedOptions = {}): Agent {
  return async function scripted(context) {
    const { signal, state } = context
    for (const command of await commandsFor(commands, context)) {
      signal.throwIfAborted()
      const argv = typeof command === 'string' ? ['sh', '-c', command] : command
      const result = await context.sandbox.exec(argv, { ...options, signal })
      if (result.launchError !== undefined) {
        throw new BelljarError(
          'command-not-started',
          `cannot start ${JSON.stringify(argv)}: ${result.launchError.message}`,
        )
      }
      state.output = result.stdout
    }
  }
}

async function commandsFor(
  commands: ScriptedCommands,
  context: AgentContext,
): Promise<readonly ScriptedCommand[]> {
  return typeof commands === 'function' ? await commands(context) : commands
}
