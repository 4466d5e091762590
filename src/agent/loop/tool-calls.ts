import type { AgentContext } from '../agent.ts'
import type { ToolCall, ToolMessage } from '../messages.ts'
import { type Tool, ToolCallError } from '../tool.ts'
import { type ToolFailure, toolFailure } from './tool-failure.ts'

export interface ToolCallOutcome {
  readonly message: ToolMessage
  /** Whether the call was of a final tool and succeeded. */
  readonly final: boolean
}

/**
 * Runs the calls of one turn at once and appends their results in the order of the calls. What is not of the model's making is thrown,
 * after all calls have ended.
 */
export async function runToolCalls(
  calls: readonly ToolCall[],
  tools: ReadonlyMap<string, Tool>,
  context: AgentContext,
): Promise<ToolCallOutcome[]> {
  const settled = await Promise.allSettled(calls.map((call) => runToolCall(call, tools, context)))
  const outcomes = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  context.state.messages.push(...outcomes.map(({ message }) => message))
  const failed = settled.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return outcomes
}

async function runToolCall(
  call: ToolCall,
  tools: ReadonlyMap<string, Tool>,
  context: AgentContext,
): Promise<ToolCallOutcome> {
  const startedMs = Date.now()
  const record = ({ content, error }: Partial<ToolFailure>) =>
    context.transcript.record({
      type: 'tool-call',
      startedMs,
      durationMs: Date.now() - startedMs,
      call,
      result: content ?? '',
      error,
    })
  try {
    const { content, error, final } = await callTool(call, tools, context)
    record({ content, error })
    return {
      message: { role: 'tool', content, toolCallId: call.id, toolName: call.name, error },
      final,
    }
  } catch (error) {
    record({ error: { kind: 'failed', message: error instanceof Error ? error.message : String(error) } })
    throw error
  }
}

async function callTool(
  call: ToolCall,
  tools: ReadonlyMap<string, Tool>,
  context: AgentContext,
): Promise<Partial<ToolFailure> & { content: string; final: boolean }> {
  try {
    const tool = usableTool(call, tools)
    return { content: await tool.call(call.arguments, context), final: tool.final }
  } catch (error) {
    const failure = toolFailure(error)
    if (failure === undefined) throw error
    return { ...failure, final: false }
  }
}

function usableTool(call: ToolCall, tools: ReadonlyMap<string, Tool>): Tool {
  if (call.parseError !== undefined) {
    throw new ToolCallError('parsing', `the arguments could not be read: ${call.parseError}`)
  }
  const tool = tools.get(call.name)
  if (tool === undefined) {
    const names = [...tools.keys()].join(', ')
    throw new ToolCallError('unknown-tool', `there is no tool '${call.name}'; expected one of: ${names}`)
  }
  return tool
}
