import { z } from 'zod'
import { ConfigError } from '../../errors.ts'
import type { ExecResult } from '../../sandbox/sandbox.ts'
import type { AgentContext, AgentState } from '../agent.ts'
import { cappedText, endOf, outputText } from '../output-text.ts'
import { defineTool, type Tool, ToolCallError } from '../tool.ts'

export interface BashOptions {
  /** Name of the service to run in; default: the sandbox's default service. */
  readonly service?: string
  readonly user?: string
  readonly cwd?: string
  /** Deadline of one command in milliseconds (default 120,000). */
  readonly timeoutMs?: number
  /** How many characters of a command's output the model is shown (default 16,384); the middle is left out. */
  readonly maxOutputCharacters?: number
}

const parameters = z.object({ command: z.string().describe('The command, as bash reads it.') })

/** A tool that runs a command by `bash -c`, each in a new shell. Needs bash in the image: @throws ConfigError (at the first call) without it */
export function bash(options: BashOptions = {}): Tool {
  const { service, maxOutputCharacters = 16_384, timeoutMs = 120_000, ...where } = options
  const started = new WeakSet<AgentState>()
  return defineTool({
    name: 'bash',
    description: 'Runs a command with bash and returns its output and exit code. Each call is a new shell.',
    parameters,
    async execute({ command }, context) {
      const sandbox = service === undefined ? context.sandbox : context.service(service)
      const result = await sandbox.exec(['bash', '-c', command], {
        ...where,
        timeoutMs,
        signal: context.signal,
      })
      if (result.launchError === undefined) started.add(context.state)
      else throw launchFailure(result.launchError, context, started)
      return cappedText(shownResult(result), maxOutputCharacters)
    },
  })
}

/** Before any command has run the image or the options are at fault; afterwards it is what the model did to the sandbox. */
function launchFailure(
  { kind, message }: NonNullable<ExecResult['launchError']>,
  { state }: AgentContext,
  started: WeakSet<AgentState>,
): Error {
  if (kind === 'arguments-too-long' || started.has(state)) {
    return new ToolCallError(kind === 'not-found' ? 'not-found' : 'failed', message)
  }
  return new ConfigError(`cannot start bash in the sandbox: ${message}`, { where: "tool 'bash'" })
}

function shownResult(result: ExecResult): string {
  const parts = [outputText(result).trimEnd()]
  if (result.truncated) parts.unshift('[only the last part of the output was kept]')
  if (result.exitCode !== 0) parts.push(`[${endOf(result)}]`)
  return parts.filter((part) => part !== '').join('\n') || '[no output]'
}
