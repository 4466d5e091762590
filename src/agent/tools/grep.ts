import { z } from 'zod'
import { defineTool, type Tool, ToolCallError } from '../tool.ts'
import { CommandTool, type CommandToolOptions } from './shown-command.ts'

const parameters = z.object({
  pattern: z.string().describe('An extended regular expression, matched line by line.'),
  path: z.string().default('.').describe('A file or a folder, which is searched with all below it.'),
  ignore_case: z.boolean().default(false),
})

/** A tool that searches files. Needs grep in the image: @throws ConfigError (at the first call) without it */
export function grep(options: CommandToolOptions = {}): Tool {
  const commands = new CommandTool('grep', options)
  return defineTool({
    name: 'grep',
    description:
      'Searches the lines of files for a pattern. Returns path, line number and line of each match.',
    parameters,
    async execute({ pattern, path, ignore_case: ignoresCase }, context) {
      const flags = ignoresCase ? ['-rnEi'] : ['-rnE']
      const result = await commands.exec(['grep', ...flags, '-e', pattern, '--', path], context)
      if (result.exitCode === 1 && result.stderr === '') return 'No line matches.'
      if (result.exitCode === 0 || result.stdout !== '') return commands.shown(result)
      throw new ToolCallError('failed', result.stderr.trim() || 'grep failed')
    },
  })
}
