import { z } from 'zod'
import { BelljarError, ConfigError } from '../errors.ts'
import type { Content } from '../sample/content.ts'
import type { AgentContext } from './agent.ts'
import type { ToolErrorKind } from './messages.ts'

/** What a model may call. Made by `defineTool`. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly parameters: z.ZodObject
  /** JSON Schema that the model is shown (default: that of `parameters`), for tools that check their arguments elsewhere. */
  readonly schema?: Readonly<Record<string, unknown>>
  /** A call that succeeds ends the loop, and its result is the agent's output. */
  readonly final: boolean
  /** @param input arguments as the model gave them. @throws ToolCallError with kind `parsing` when they do not fit */
  call(input: unknown, context: AgentContext): Promise<Content>
}

export interface ToolDefinition<Parameters extends z.ZodObject> {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string
  readonly description: string
  readonly parameters: Parameters
  readonly final?: boolean
  /**
   * What is returned, a text or parts of which some may be media, is shown to the model. A ToolCallError, a deadline that passed and a file that could not be used are told to the model;
   * anything else that is thrown fails the sample.
   */
  execute(input: z.output<Parameters>, context: AgentContext): Promise<Content> | Content
}

/** Thrown by a tool for an error of the model's making; `output` is what there is to show beside the message. */
export class ToolCallError extends BelljarError {
  readonly kind: ToolErrorKind
  readonly output: string | undefined

  constructor(kind: ToolErrorKind, message: string, options?: { output?: string; cause?: unknown }) {
    super(`tool-${kind}`, message, options)
    this.kind = kind
    this.output = options?.output
  }
}

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/

/** @throws ConfigError for a name that models do not take */
export function defineTool<Parameters extends z.ZodObject>(definition: ToolDefinition<Parameters>): Tool {
  const { name, description, parameters, final = false } = definition
  if (!TOOL_NAME.test(name)) {
    throw new ConfigError(`expected a tool name of 1 to 64 letters, digits, _ or -, got '${name}'`)
  }
  return {
    name,
    description,
    parameters,
    final,
    async call(input, context) {
      const parsed = await parameters.safeParseAsync(input)
      if (!parsed.success) throw new ToolCallError('parsing', z.prettifyError(parsed.error))
      return await definition.execute(parsed.data, context)
    },
  }
}

/** Tools that are there only while an agent works, such as those of a server. */
export interface ToolSource {
  open(context: AgentContext): Promise<OpenTools>
}

export interface OpenTools extends AsyncDisposable {
  readonly tools: readonly Tool[]
}
