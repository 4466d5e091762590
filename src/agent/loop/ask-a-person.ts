import { createInterface } from 'node:readline/promises'
import PQueue from 'p-queue'
import { ConfigError } from '../../errors.ts'
import { escapeText } from '../../util/terminal.ts'
import type { ToolCall } from '../messages.ts'
import type { ApprovalDecision, ApprovalPolicy } from './approval.ts'
import { approve } from './approval.ts'

export interface AskOptions {
  /** Patterns of names (default: all tools). */
  readonly tools?: readonly string[]
  /** Puts the question (default: in the terminal that belljar runs in). */
  readonly ask?: (question: string, signal: AbortSignal) => Promise<string>
}

const ANSWERS = 'yes, no, or end'

/** Asks a person about each call: one at a time. In the terminal: @throws ConfigError where there is none */
export function askAPerson({ tools = [], ask = askInTerminal }: AskOptions = {}): ApprovalPolicy {
  const concerned = approve(...tools)
  return {
    name: 'ask-a-person',
    async decide(call, context) {
      if (!concerned.decide(call, context)) return undefined
      const question = `${questionAbout(call, String(context.sample.id))}\nLet it run? (${ANSWERS}) `
      for (;;) {
        const decision = decisionOf(await ask(question, context.signal))
        if (decision) return decision
      }
    },
  }
}

function questionAbout({ name, arguments: given }: ToolCall, sample: string): string {
  return `sample ${escapeText(sample)} wants to call ${escapeText(name)}:\n${escapeText(JSON.stringify(given, null, 2))}`
}

function decisionOf(answer: string): ApprovalDecision | undefined {
  const word = answer.trim().toLowerCase()
  if (word === '') return undefined
  if ('yes'.startsWith(word)) return { decision: 'approve' }
  if ('no'.startsWith(word)) return { decision: 'reject', message: 'a person did not allow this call' }
  return 'end'.startsWith(word) ? { decision: 'end', message: 'a person ended the agent' } : undefined
}

const questions = new PQueue({ concurrency: 1 })

async function askInTerminal(question: string, signal: AbortSignal): Promise<string> {
  if (!process.stdin.isTTY)
    throw new ConfigError('there is no terminal to ask in; give `ask`', { where: 'askAPerson' })
  return await questions.add(async () => {
    const terminal = createInterface({ input: process.stdin, output: process.stderr })
    try {
      return await terminal.question(`\n${question}`, { signal })
    } finally {
      terminal.close()
    }
  })
}
