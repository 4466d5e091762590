import { z } from 'zod'
import { ConfigError, errorMessage } from '../../errors.ts'
import type { AgentContext, AgentState } from '../agent.ts'
import { cappedText } from '../output-text.ts'
import { defineTool, type Tool, ToolCallError } from '../tool.ts'
import { type ShellLook, ShellSession } from './shell-session.ts'
import { DEFAULT_SHOWN, sandboxOf } from './shown-command.ts'

export interface ShellOptions {
  /** Name of the service to run in; default: the sandbox's default service. */
  readonly service?: string
  readonly user?: string
  readonly cwd?: string
  /** The shell (default `sh`); one of the Bourne kind. */
  readonly program?: readonly string[]
  /** How long a call waits for a command's end unless the model says otherwise, in seconds (default 30). */
  readonly waitSeconds?: number
  /** How many characters of output the model is shown (default 16,384); the middle is left out. */
  readonly maxOutputCharacters?: number
}

const parameters = z.object({
  command: z
    .string()
    .optional()
    .describe('A command for the shell; left out to look at one that still runs.'),
  input: z.string().optional().describe('Text typed to the program that runs; end it with a newline.'),
  interrupt: z.boolean().optional().describe('Types control-C first.'),
  restart: z.boolean().optional().describe('Ends the shell with all that runs in it and starts a new one.'),
  wait_seconds: z
    .number()
    .min(0)
    .max(600)
    .optional()
    .describe('How long to wait for the end of the command.'),
})
type Request = z.output<typeof parameters>

/**
 * A tool with one shell on a terminal for the whole sample: its folder, variables and background jobs stay from call to call, and programs
 * that ask questions can be answered. Needs a shell in the image: @throws ConfigError (at the first call) without it
 */
export function shell(options: ShellOptions = {}): Tool {
  const sessions = new WeakMap<AgentState, Promise<ShellSession>>()
  const start = (context: AgentContext): Promise<ShellSession> => {
    const { program = ['sh'], user, cwd } = options
    const started = ShellSession.start(sandboxOf(options, context), {
      program,
      user,
      cwd,
      signal: context.signal,
    })
    sessions.set(context.state, started)
    return started.catch((error: unknown) => {
      context.signal.throwIfAborted()
      sessions.delete(context.state)
      if (error instanceof Error && error.name !== 'Error') throw error
      throw new ConfigError(`cannot start ${program[0]} in the sandbox: ${errorMessage(error)}`, {
        where: "tool 'shell'",
      })
    })
  }
  return defineTool({
    name: 'shell',
    description:
      'A shell on a terminal that stays between calls. Runs a command and waits for its end; one that goes on can be looked at again, given input, or interrupted.',
    parameters,
    async execute(request, context) {
      const before = await sessions.get(context.state)
      if (request.restart) await before?.end()
      const session = !before || request.restart || before.hasEnded ? await start(context) : before
      await send(session, request)
      const waitMs = (request.wait_seconds ?? options.waitSeconds ?? 30) * 1000
      const look = session.isRunning ? await session.look(waitMs) : undefined
      return shown(look, waitMs, options.maxOutputCharacters ?? DEFAULT_SHOWN)
    },
  })
}

async function send(session: ShellSession, { command, input, interrupt }: Request): Promise<void> {
  if (interrupt && session.isRunning) await session.type('\u0003')
  if (input !== undefined) {
    if (!session.isRunning) throw new ToolCallError('failed', 'nothing runs that could be given input')
    await session.type(input)
  }
  if (command === undefined) return
  if (interrupt && session.isRunning) await session.look(2000)
  if (session.isRunning)
    throw new ToolCallError(
      'failed',
      'a command still runs: wait for it, give it input, interrupt it, or restart',
    )
  await session.run(command)
}

function shown(look: ShellLook | undefined, waitMs: number, max: number): string {
  if (!look) return '[nothing runs]'
  const { output, state } = look
  const text = cappedText(output.trimEnd(), max)
  const end =
    state === 'running'
      ? `[still running after ${waitMs / 1000} seconds]`
      : state === 'ended'
        ? '[the shell has ended; the next call starts a new one]'
        : state.exitCode === 0
          ? ''
          : `[exit code ${state.exitCode}]`
  return [text, end].filter((part) => part !== '').join('\n') || '[no output]'
}
