import { z } from 'zod'
import { defineTool, type Tool } from '../tool.ts'
import { CommandTool, type CommandToolOptions } from './shown-command.ts'

export interface PythonOptions extends CommandToolOptions {
  /** The interpreter (default `python3`). */
  readonly program?: string
}

const parameters = z.object({ code: z.string().describe('The program. Print what you want to see.') })

/** A tool that runs a Python program, each in a new process. Needs Python in the image: @throws ConfigError (at the first call) without it */
export function python(options: PythonOptions = {}): Tool {
  const { program = 'python3', ...where } = options
  const commands = new CommandTool('python', where)
  return defineTool({
    name: 'python',
    description:
      'Runs a Python program and returns what it printed and its exit code. Each call is a new process.',
    parameters,
    execute: ({ code }, context) => commands.run([program, '-'], context, code),
  })
}
