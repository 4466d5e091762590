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

export const echo = defineTool({
  name: 'bash',
  description: 'Runs a command.',
  parameters: z.object({ command: z.string() }),
  execute: ({ command }) => command.replace('echo ', ''),
})

/** A provider under load: refuses every fifth request for its rate, fails at every seventh, drops every eleventh, else goes on with the conversation. */
export function busyModel(): {
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
    return turnOf(body.messages as readonly { role: string }[])
  }
  return { reply, faults }
}

function turnOf(messages: readonly { role: string }[]): FakeAnswer {
  const turn = messages.filter(({ role }) => role === 'assistant').length
  const usage = BUSY_USAGE[turn]!
  const toolCalls = [{ name: 'bash', arguments: { command: `echo ${turn}` } }]
  return turn < 2 ? { usage, toolCalls } : { usage, text: 'done' }
}
