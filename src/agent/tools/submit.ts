import { z } from 'zod'
import { defineTool, type Tool } from '../tool.ts'

export interface SubmitOptions {
  /** What the model is told (default: that it hands in its final answer). */
  readonly description?: string
}

/** A tool with which the model hands in its answer and ends the loop. */
export function submit(options: SubmitOptions = {}): Tool {
  return defineTool({
    name: 'submit',
    description:
      options.description ?? 'Hands in your final answer and ends the work. Call it once, when you are done.',
    parameters: z.object({ answer: z.string().describe('The final answer.') }),
    final: true,
    execute: ({ answer }) => answer,
  })
}
