import { z } from 'zod'
import { defineTool } from '../../src/agent/tool.ts'
import type { FakeAnswer, FakeUsage } from './fake-models/answer.ts'
import type { FakeReply, FakeRequest } from './fake-models/server.ts'

/** What a conversation of the busy model uses by turn: two calls of a tool, then its answer. */
export const BUSY_USAGE: readonly FakeUsage[] = [
  { input: 100, output: 20 },
  { input: 150, output: 30, cacheRead: 90 },
  { input: 210, output: 7, cacheRead: 140, reasoning: 3 },
]

export const BUSY_TOTALS = { inputTokens: 460, outputTokens: 57, cacheReadTokens: 230, reasoningTokens: 3 }

/** What a grade by the model `judge` uses. */
export const GRADE_USAGE: FakeUsage = { input: 80, output: 5, cacheRead: 16 }
export const GRADE_TOTALS = { inputTokens: 80, outputTokens: 5, cacheReadTokens: 16 }

export interface BusyOptions {
  /** A command that the first turn asks for beside its own. */
  readonly forbidden?: string
}

export const echo = defineTool({
  name: 'bash',
  description: 'Runs a command.',
  parameters: z.object({ command: z.string() }),
  execute: ({ command }) => command.replace('echo ', ''),
})

/** A provider under load: refuses every fifth request for its rate, fails at every seventh, drops every eleventh, else goes on with the conversation, or grades as `judge`. */
export function busyModel({ forbidden }: BusyOptions = {}): {
  reply: (request: FakeRequest) => FakeReply
  faults: { refused: number; failed: number; dropped: number }
} {
  const faults = { refused: 0, failed: 0, dropped: 0 }
  const reply = ({ index, body }: FakeRequest): FakeReply => {
    if (index % 5 === 4) {
      faults.refused++
      return { fault: 'status', status: 429, headers: { 'retry-after-ms': '3' } }
    }
    if (index % 7 === 6) {
      faults.failed++
      return { fault: 'status', status: 500 }
    }
    if (index % 11 === 10) {
      faults.dropped++
      return { fault: 'drop' }
    }
    if (body.model === 'judge') return { usage: GRADE_USAGE, text: 'It says so.\nGRADE: C' }
    return turnOf(body.messages as readonly { role: string }[], forbidden)
  }
  return { reply, faults }
}

function turnOf(messages: readonly { role: string }[], forbidden: string | undefined): FakeAnswer {
  const turn = messages.filter(({ role }) => role === 'assistant').length
  const usage = BUSY_USAGE[turn]!
  const commands = [`echo ${turn}`, ...(turn === 0 && forbidden ? [forbidden] : [])]
  const toolCalls = commands.map((command) => ({ name: 'bash', arguments: { command } }))
  return turn < 2 ? { usage, toolCalls } : { usage, text: 'done' }
}
