import { z } from 'zod'
import { defineTool, type Tool } from '../tool.ts'

export interface ThinkOptions {
  /** What the model is told that it is for. */
  readonly description?: string
}

/** A tool that does nothing but keep a thought in the conversation. */
export function think(options: ThinkOptions = {}): Tool {
  return defineTool({
    name: 'think',
    description:
      options.description ??
      'A place to think: changes nothing and finds out nothing. Use it to weigh what you know before a hard step.',
    parameters: z.object({ thought: z.string() }),
    execute: () => '',
  })
}
