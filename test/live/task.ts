/** Five questions that a model answers with two tools: what `scripts/live.sh` asks a real provider. */
import { defineTask, defineTool, exact, submit, toolLoop } from 'belljar'
import { z } from 'zod'

const multiply = defineTool({
  name: 'multiply',
  description: 'Multiplies two numbers.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a * b),
})

const FACTORS = [3, 7, 12, 58, 391]

export default defineTask({
  name: 'live-smoke',
  dataset: FACTORS.map((factor) => ({
    id: `times-${factor}`,
    input: `Multiply 1234 by ${factor} with the tool and submit the bare number.`,
    target: String(1234 * factor),
  })),
  agent: toolLoop({
    tools: [multiply, submit()],
    system: 'Use the tools. Call submit once, at the end.',
    maxTurns: 6,
  }),
  scorers: [exact()],
  sandbox: false,
  config: { maxOutputTokens: 2000, maxRetries: 3 },
})
