import { z } from 'zod'
import { ConfigError, LimitExceededError } from '../../errors.ts'
import { textOf } from '../../sample/content.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import type { Agent, AgentContext, VisibleSample } from '../agent.ts'
import type { GenerateConfig, Model, ToolDescription } from '../model.ts'
import type { OpenTools, Tool, ToolSource } from '../tool.ts'
import type { ApprovalPolicy } from './approval.ts'
import { type Compaction, trim } from './compaction.ts'
import { runToolCalls } from './tool-calls.ts'
import { Turns } from './turns.ts'

/** An answer that was handed in. */
export interface Submission {
  readonly answer: string
  /** Counted from 1. */
  readonly attempt: number
  /** Without `tests`, like all that an agent sees. */
  readonly sample: VisibleSample
  readonly sandbox: Sandbox
  readonly signal: AbortSignal
}

export interface ToolLoopOptions {
  /** Tools, and sources of tools such as `mcpServer`. */
  readonly tools: readonly (Tool | ToolSource)[]
  /** Default: the run's model. */
  readonly model?: Model
  /** System message, put before the sample's input. */
  readonly system?: string
  /** How many model calls this agent may make; one more is a LimitExceededError of type `turn`. */
  readonly maxTurns?: number
  readonly config?: GenerateConfig
  /** How often an answer may be handed in, and what the model is told of one that is not right; true where it is. */
  readonly attempts?: {
    readonly count: number
    readonly feedback: (submission: Submission) => Promise<string | true> | string | true
  }
  /**
   * What the model is told when it calls no tool; false: it is done then. Default: where there is a final tool such as `submit`, to go on, at
   * most three times in a row; else false.
   */
  readonly onStop?: string | false
  /** Asked about each call of a tool, in order; the first that decides counts, and where none does the call is refused. Default: all may run. */
  readonly approval?: readonly ApprovalPolicy[]
  /** What is done with a conversation that the model can no longer hold (default `trim()`). false: the model's error stands. */
  readonly compaction?: Compaction | false
  /** Makes the conversation shorter once a call has used so many tokens, rather than when the model refuses it. */
  readonly maxContextTokens?: number
}

const STOPS_IN_A_ROW = 3
const GO_ON = (tool: string) => `Go on with the task. When you are done, call ${tool} with your final answer.`

/**
 * Asks the model, runs the tools that it calls, shows it the results, and so on, until a final tool such as `submit` succeeds, the model
 * calls no tool and is not told to go on, or a limit is reached. The output is what was submitted, else the model's last text.
 * @throws ConfigError when two tools have one name
 */
export function toolLoop(options: ToolLoopOptions): Agent {
  const own = options.tools.filter((tool) => 'call' in tool)
  toolsByName(own)
  return async function toolLoop(context) {
    startConversation(context, options.system)
    const sources = options.tools.filter((tool) => 'open' in tool)
    await using opened = await openAll(sources, context)
    return await new Loop(options, context, [...own, ...opened.tools]).run()
  }
}

/** One agent at work. */
class Loop {
  readonly #options: ToolLoopOptions
  readonly #context: AgentContext
  readonly #tools: ReadonlyMap<string, Tool>
  readonly #onStop: string | false
  #attempt = 0
  #stops = 0

  constructor(options: ToolLoopOptions, context: AgentContext, tools: readonly Tool[]) {
    const final = tools.find((tool) => tool.final)
    this.#options = options
    this.#context = context
    this.#tools = toolsByName(tools)
    this.#onStop = options.onStop ?? (final ? GO_ON(final.name) : false)
  }

  async run(): Promise<string | undefined> {
    const { model = this.#context.model, config, maxTurns, approval, maxContextTokens } = this.#options
    const compaction = this.#options.compaction === false ? undefined : (this.#options.compaction ?? trim())
    const turns = new Turns(model, this.#context, { compaction, maxContextTokens })
    const tools = [...this.#tools.values()].map(describeTool)
    for (let turn = 0; ; turn++) {
      if (turn === maxTurns) throw new LimitExceededError({ type: 'turn', limit: turn })
      const { toolCalls = [] } = await turns.next({ tools, config })
      if (toolCalls.length === 0) {
        if (!this.#goesOn()) return undefined
        continue
      }
      this.#stops = 0
      const outcomes = await runToolCalls(toolCalls, { tools: this.#tools, approval }, this.#context)
      const submission = outcomes.find(({ final }) => final)
      if (submission === undefined) continue
      const answer = textOf(submission.message.content)
      if (await this.#accepts(answer)) return answer
    }
  }

  #goesOn(): boolean {
    this.#stops++
    if (this.#onStop === false || this.#stops > STOPS_IN_A_ROW) return false
    this.#context.state.messages.push({ role: 'user', content: this.#onStop })
    return true
  }

  async #accepts(answer: string): Promise<boolean> {
    const { attempts } = this.#options
    const { state, sample, signal } = this.#context
    this.#attempt++
    state.output = answer
    if (!attempts || this.#attempt >= attempts.count) return true
    const { sandbox } = this.#context
    const verdict = await attempts.feedback({ answer, attempt: this.#attempt, sample, sandbox, signal })
    if (verdict === true) return true
    state.messages.push({ role: 'user', content: verdict })
    return false
  }
}

/** Those that are open are closed when one cannot be opened. */
async function openAll(sources: readonly ToolSource[], context: AgentContext): Promise<OpenTools> {
  const stack = new OpenSources()
  try {
    for (const source of sources) stack.add(await source.open(context))
    return stack
  } catch (error) {
    await stack[Symbol.asyncDispose]()
    throw error
  }
}

class OpenSources implements OpenTools {
  readonly #opened: OpenTools[] = []

  get tools(): readonly Tool[] {
    return this.#opened.flatMap(({ tools }) => tools)
  }

  add(opened: OpenTools): void {
    this.#opened.push(opened)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#opened.map((opened) => opened[Symbol.asyncDispose]()))
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

function describeTool({ name, description, parameters, schema }: Tool): ToolDescription {
  return { name, description, parameters: schema ?? z.toJSONSchema(parameters, { io: 'input' }) }
}
