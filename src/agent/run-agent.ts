import { z } from 'zod'
import type { Content } from '../sample/content.ts'
import { shownInput } from '../sample/input.ts'
import type { Agent, AgentContext, AgentState } from './agent.ts'
import { span } from './span.ts'
import { defineTool, type Tool } from './tool.ts'

export interface RunAgentOptions {
  /** In the log (default: the agent's own). */
  readonly name?: string
  /** What it works on (default: the sample's input). */
  readonly input?: Content
  /** The conversation that it takes over (default: none). */
  readonly messages?: AgentState['messages']
}

/**
 * Lets another agent work, in a span of its own, with a conversation of its own; sandbox, models, limits and log are the caller's.
 * @throws what the agent throws
 */
export async function runAgent(
  agent: Agent,
  context: AgentContext,
  options: RunAgentOptions = {},
): Promise<Readonly<AgentState>> {
  const state: AgentState = { messages: [...(options.messages ?? [])], output: '' }
  const content = options.input ?? context.sample.content
  const its: AgentContext = Object.create(context, {
    state: { value: state, enumerable: true },
    sample: { value: { ...context.sample, input: shownInput(content), content }, enumerable: true },
  })
  await span(options.name ?? (agent.name || 'agent'), context, async () => {
    const output = await agent(its)
    if (typeof output === 'string') state.output = output
  })
  return state
}

/** Hands the conversation so far to another agent, which goes on with it; what it says is the caller's conversation and output afterwards. */
export async function handOff(
  agent: Agent,
  context: AgentContext,
  options: { name?: string } = {},
): Promise<string> {
  const { state } = context
  const { messages, output } = await runAgent(agent, context, { ...options, messages: state.messages })
  state.messages.splice(0, state.messages.length, ...messages)
  state.output = output
  return output
}

/** A tool with which a model gives work to another agent, and is shown its output. */
export function agentTool(agent: Agent, about: { name: string; description: string }): Tool {
  return defineTool({
    ...about,
    parameters: z.object({ task: z.string().describe('All that it needs to know: it sees nothing else.') }),
    execute: async ({ task }, context) =>
      (await runAgent(agent, context, { name: about.name, input: task })).output,
  })
}
