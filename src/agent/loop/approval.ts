import { LimitExceededError } from '../../errors.ts'
import { globPattern } from '../../util/glob.ts'
import type { AgentContext } from '../agent.ts'
import type { ToolCall } from '../messages.ts'
import { ToolCallError } from '../tool.ts'

export type ApprovalDecision =
  | { readonly decision: 'approve' }
  /** The model is told `message`, and goes on. */
  | { readonly decision: 'reject'; readonly message?: string }
  /** The call runs with other arguments. */
  | { readonly decision: 'modify'; readonly arguments: ToolCall['arguments'] }
  /** The agent ends here, and what it did is scored. */
  | { readonly decision: 'end'; readonly message?: string }

/** Decides on calls of tools. Made by `approve`, `reject`, `askAPerson`, or by hand. */
export interface ApprovalPolicy {
  /** In the log. */
  readonly name: string
  /** undefined: not for this policy to say. */
  decide(
    call: ToolCall,
    context: AgentContext,
  ): Promise<ApprovalDecision | undefined> | ApprovalDecision | undefined
}

/** Lets calls of these tools run (patterns such as `read_*`; default: all). */
export function approve(...tools: readonly string[]): ApprovalPolicy {
  const matches = matcherOf(tools)
  return { name: 'approve', decide: ({ name }) => (matches(name) ? { decision: 'approve' } : undefined) }
}

export interface RejectOptions {
  /** Patterns of names (default: all tools). */
  readonly tools?: readonly string[]
  /** Only calls whose arguments, as JSON, it is found in. */
  readonly arguments?: RegExp
  readonly message?: string
}

/** Keeps calls from running. */
export function reject(options: RejectOptions = {}): ApprovalPolicy {
  const matches = matcherOf(options.tools ?? [])
  const { arguments: found, message } = options
  return {
    name: 'reject',
    decide: ({ name, arguments: given }) =>
      matches(name) && (found === undefined || found.test(JSON.stringify(given)))
        ? { decision: 'reject', message }
        : undefined,
  }
}

function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  const matchers = patterns.map(globPattern)
  return (name) => matchers.length === 0 || matchers.some((pattern) => pattern.test(name))
}

/** The call that may run. @throws ToolCallError when it may not, LimitExceededError of type `operator` when the agent is to end */
export async function approved(
  call: ToolCall,
  policies: readonly ApprovalPolicy[],
  context: AgentContext,
): Promise<ToolCall> {
  if (policies.length === 0) return call
  for (const policy of policies) {
    const given = await policy.decide(call, context)
    if (given === undefined) continue
    record(call, { policy: policy.name, ...given }, context)
    return follow(call, given)
  }
  record(call, { policy: 'none', decision: 'reject' }, context)
  throw new ToolCallError('not-approved', 'no policy lets this call run')
}

function follow(call: ToolCall, given: ApprovalDecision): ToolCall {
  if (given.decision === 'approve') return call
  if (given.decision === 'modify') return { ...call, arguments: given.arguments }
  const message = given.message ?? 'this call is not allowed'
  if (given.decision === 'reject') throw new ToolCallError('not-approved', message)
  throw new LimitExceededError({ type: 'operator', limit: 0, message })
}

function record({ id, name }: ToolCall, data: object, { transcript }: AgentContext): void {
  transcript.record({
    type: 'info',
    startedMs: Date.now(),
    source: 'approval',
    data: { call: id, tool: name, ...data },
  })
}
