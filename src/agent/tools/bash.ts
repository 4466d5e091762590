import { z } from 'zod'
import { defineTool, type Tool } from '../tool.ts'
import { CommandTool, type CommandToolOptions } from './shown-command.ts'

export type BashOptions = CommandToolOptions

const parameters = z.object({ command: z.string().describe('The command, as bash reads it.') })

/** A tool that runs a command by `bash -c`, each in a new shell. Needs bash in the image: @throws ConfigError (at the first call) without it */
export function bash(options: BashOptions = {}): Tool {
  const commands = new CommandTool('bash', options)
  return defineTool({
    name: 'bash',
    description: 'Runs a command with bash and returns its output and exit code. Each call is a new shell.',
    parameters,
    execute: ({ command }, context) => commands.run(['bash', '-c', command], context),
  })
}
