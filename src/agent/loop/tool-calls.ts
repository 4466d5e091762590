import { type Content, textOf } from '../../sample/content.ts'
import { stopwatch } from '../../util/clock.ts'
import type { AgentContext } from '../agent.ts'
import type { ToolCall, ToolMessage } from '../messages.ts'
import { type Tool, ToolCallError } from '../tool.ts'
import { type ApprovalPolicy, approved } from './approval.ts'
import { type ToolFailure, toolFailure } from './tool-failure.ts'

/** What a model may call, and who is asked before. */
export interface Toolbox {
  readonly tools: ReadonlyMap<string, Tool>
  readonly approval?: readonly ApprovalPolicy[] | undefined
}

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
  toolbox: Toolbox,
  context: AgentContext,
): Promise<ToolCallOutcome[]> {
  const settled = await Promise.allSettled(calls.map((call) => runToolCall(call, toolbox, context)))
  const outcomes = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  context.state.messages.push(...outcomes.map(({ message }) => message))
  const failed = settled.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return outcomes
}

async function runToolCall(
  call: ToolCall,
  toolbox: Toolbox,
  context: AgentContext,
): Promise<ToolCallOutcome> {
  const time = stopwatch()
  const record = ({ content, error }: Partial<ToolFailure>) =>
    context.transcript.record({
      type: 'tool-call',
      ...time(),
      call,
      result: content ?? '',
      error,
    })
  try {
    const { content, error, final } = await callTool(call, toolbox, context)
    record({ content: textOf(content), error })
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
  { tools, approval = [] }: Toolbox,
  context: AgentContext,
): Promise<Pick<Partial<ToolFailure>, 'error'> & { content: Content; final: boolean }> {
  try {
    const tool = usableTool(call, tools)
    const allowed = await approved(call, approval, context)
    return { content: await tool.call(allowed.arguments, context), final: tool.final }
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
