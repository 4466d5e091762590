import { z } from 'zod'
import { cappedText } from '../output-text.ts'
import { defineTool, type Tool, ToolCallError } from '../tool.ts'
import { DEFAULT_SHOWN, sandboxOf } from './shown-command.ts'

export interface FileToolOptions {
  readonly service?: string
  readonly user?: string
  /** How many characters the model is shown (default 16,384); the middle is left out. */
  readonly maxOutputCharacters?: number
}

const MAX_BYTES = 10 * 1024 * 1024

const parameters = z.object({
  path: z.string(),
  first_line: z.int().positive().default(1).describe('Where to begin, counted from 1.'),
  line_count: z.int().positive().optional().describe('How many lines; left out, all.'),
})

/** A tool that reads text files, as the service's user. Needs nothing in the image. */
export function readFile(options: FileToolOptions = {}): Tool {
  const { maxOutputCharacters = DEFAULT_SHOWN, user } = options
  return defineTool({
    name: 'read_file',
    description: 'Reads a text file and returns its lines, each with its number.',
    parameters,
    async execute({ path, first_line: first, line_count: count }, context) {
      const sandbox = sandboxOf(options, context)
      const text = await sandbox.readText(path, { user, maxBytes: MAX_BYTES, signal: context.signal })
      const lines = linesOf(text)
      if (first > Math.max(1, lines.length))
        throw new ToolCallError('not-found', `the file has ${lines.length} lines`)
      const shown = lines.slice(first - 1, count === undefined ? undefined : first - 1 + count)
      return cappedText(numbered(shown, first), maxOutputCharacters) || '[the file is empty]'
    },
  })
}

/** A last line that ends with a newline is not followed by an empty one. */
export function linesOf(text: string): string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}

export function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`).join('\n')
}
