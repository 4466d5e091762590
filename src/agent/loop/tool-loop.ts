import { z } from 'zod'
import { ConfigError, LimitExceededError } from '../../errors.ts'
import { textOf } from '../../sample/content.ts'
import type { Agent, AgentContext } from '../agent.ts'
import type { GenerateConfig, Model, ToolDescription } from '../model.ts'
import { ModelCaller } from '../model-call.ts'
import type { Tool } from '../tool.ts'
import { runToolCalls } from './tool-calls.ts'

export interface ToolLoopOptions {
  readonly tools: readonly Tool[]
  /** Default: the run's model. */
  readonly model?: Model
  /** System message, put before the sample's input. */
  readonly system?: string
  /** How many model calls this agent may make; one more is a LimitExceededError of type `turn`. */
  readonly maxTurns?: number
  readonly config?: GenerateConfig
}

/**
 * Asks the model, runs the tools that it calls, shows it the results, and so on, until a final tool such as `submit` succeeds, the model
 * calls no tool, or a limit is reached. The output is what was submitted, else the model's last text.
 * @throws ConfigError when two tools have one name
 */
export function toolLoop(options: ToolLoopOptions): Agent {
  const tools = toolsByName(options.tools)
  const descriptions = options.tools.map(describeTool)
  return async function toolLoop(context) {
    startConversation(context, options.system)
    const caller = new ModelCaller(options.model ?? context.model, context)
    for (let turn = 0; ; turn++) {
      if (turn === options.maxTurns) throw new LimitExceededError({ type: 'turn', limit: turn })
      const { toolCalls = [] } = await caller.generate({ tools: descriptions, config: options.config })
      if (toolCalls.length === 0) return
      const outcomes = await runToolCalls(toolCalls, tools, context)
      const submission = outcomes.find(({ final }) => final)
      if (submission !== undefined) return textOf(submission.message.content)
    }
  }
}

function startConversation({ state, sample }: AgentContext, system: string | undefined): void {
  if (system !== undefined) state.messages.unshift({ role: 'system', content: system })
  const hasInput = state.messages.some(({ role }) => role === 'user')
  if (!hasInput) state.messages.push({ role: 'user', content: sample.content })
}

function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  if (byName.size === tools.length) return byName
  const repeated = tools.find((tool) => byName.get(tool.name) !== tool)
  throw new ConfigError(`two tools are named '${repeated?.name}'`, { where: 'toolLoop' })
}

function describeTool({ name, description, parameters }: Tool): ToolDescription {
  return { name, description, parameters: z.toJSONSchema(parameters, { io: 'input' }) }
}
