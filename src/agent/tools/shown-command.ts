import { ConfigError } from '../../errors.ts'
import type { ExecResult, Sandbox } from '../../sandbox/sandbox.ts'
import type { AgentContext, AgentState } from '../agent.ts'
import { cappedText, endOf, outputText } from '../output-text.ts'
import { ToolCallError } from '../tool.ts'

/** Where and how a tool runs what the model asks for. */
export interface CommandToolOptions {
  /** Name of the service to run in; default: the sandbox's default service. */
  readonly service?: string
  readonly user?: string
  readonly cwd?: string
  /** Deadline of one command in milliseconds (default 120,000). */
  readonly timeoutMs?: number
  /** How many characters of a command's output the model is shown (default 16,384); the middle is left out. */
  readonly maxOutputCharacters?: number
}

export const DEFAULT_SHOWN = 16_384

export function sandboxOf({ service }: { service?: string | undefined }, context: AgentContext): Sandbox {
  return service === undefined ? context.sandbox : context.service(service)
}

/** Runs commands of one tool, and tells what the image lacks from what the model did to the sandbox. */
export class CommandTool {
  readonly #name: string
  readonly #options: CommandToolOptions
  readonly #started = new WeakSet<AgentState>()

  constructor(name: string, options: CommandToolOptions) {
    this.#name = name
    this.#options = options
  }

  /** What the model is shown. @throws ConfigError when the program cannot be started at the first call */
  async run(argv: readonly string[], context: AgentContext, input?: string): Promise<string> {
    return this.shown(await this.exec(argv, context, input))
  }

  async exec(argv: readonly string[], context: AgentContext, input?: string): Promise<ExecResult> {
    const { service, user, cwd, timeoutMs = 120_000 } = this.#options
    const sandbox = sandboxOf({ service }, context)
    const result = await sandbox.exec(argv, { user, cwd, timeoutMs, input, signal: context.signal })
    if (result.launchError !== undefined) throw this.#launchFailure(argv, result.launchError, context)
    this.#started.add(context.state)
    return result
  }

  shown(result: ExecResult): string {
    const parts = [outputText(result).trimEnd()]
    if (result.truncated) parts.unshift('[only the last part of the output was kept]')
    if (result.exitCode !== 0) parts.push(`[${endOf(result)}]`)
    const text = parts.filter((part) => part !== '').join('\n') || '[no output]'
    return cappedText(text, this.#options.maxOutputCharacters ?? DEFAULT_SHOWN)
  }

  /** Before any command has run the image or the options are at fault; afterwards it is what the model did to the sandbox. */
  #launchFailure(
    [program]: readonly string[],
    { kind, message }: NonNullable<ExecResult['launchError']>,
    { state }: AgentContext,
  ): Error {
    if (kind === 'arguments-too-long' || this.#started.has(state))
      return new ToolCallError(kind === 'not-found' ? 'not-found' : 'failed', message)
    return new ConfigError(`cannot start ${program} in the sandbox: ${message}`, {
      where: `tool '${this.#name}'`,
    })
  }
}
