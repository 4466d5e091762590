import { BelljarError, ConfigError } from '../../errors.ts'
import { textOf } from '../../sample/content.ts'
import { runScript } from '../../sandbox/run-script.ts'
import type { ProcessExit, Sandbox, SandboxProcess } from '../../sandbox/sandbox.ts'
import { linkedController } from '../../util/linked-controller.ts'
import type { Agent, AgentContext, VisibleSample } from '../agent.ts'
import { type Bridge, type BridgeOptions, openBridge } from '../bridge/bridge.ts'
import { endOf, outputTail } from '../output-text.ts'
import { OutputLog } from './output-log.ts'

/** What a definition of an agent can build its command line from. */
export interface CliAgentFacts {
  /** The text of the sample's input. */
  readonly prompt: string
  /** Of the bridge, inside the sandbox: `http://127.0.0.1:PORT`, without `/v1`. */
  readonly url: string
  /** A name that the bridge answers to; some agents choose their manners by it. */
  readonly model: string
  readonly sample: VisibleSample
}

type FromFacts<T> = T | ((facts: CliAgentFacts) => T)

/** How the program ended; of its streams the last 1,048,576 characters. Text from a sandbox. */
export interface CliAgentRun {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number | null
  readonly sandbox: Sandbox
}

export interface CliAgentOptions extends Pick<BridgeOptions, 'models' | 'port'> {
  /** Shown in the log and in errors. */
  readonly name: string
  /** argv. It runs as the service's user unless `user` says otherwise, with the variables that lead to the bridge. */
  readonly command: FromFacts<readonly string[]>
  /** A script that root runs before; better is an image that has the program already. */
  readonly install?: string
  /** Deadline of `install` in milliseconds (default 600,000). */
  readonly installTimeoutMs?: number
  /** Added to the variables of the bridge. */
  readonly env?: FromFacts<Readonly<Record<string, string>>>
  /** Files of its configuration by path, such as `/root/.agent/config.json`. */
  readonly files?: FromFacts<Readonly<Record<string, string>>>
  /** Written to its standard input; without it that is empty. */
  readonly input?: FromFacts<string>
  /** The agent's output (default: the program's standard output, trimmed). */
  readonly parse?: (run: CliAgentRun) => string | Promise<string>
  /** Which exit codes are no error (default: 0 alone). */
  readonly acceptedExitCodes?: readonly number[]
  /** The model's name as the program is told it (default: `belljar`). */
  readonly model?: string
  readonly service?: string
  readonly user?: string
  readonly cwd?: string
}

const KEPT = 1024 * 1024

/**
 * An agent that is a program in the sandbox. It is given the run's models through a bridge, so that it works without network and without
 * keys, under the sample's limits, with every call in the log. It ends with an error when the program does, and with what ended the
 * bridge: a limit, a model that failed.
 */
export function cliAgent(options: CliAgentOptions): Agent {
  const agent: Agent = async (context) => {
    const sandbox = options.service === undefined ? context.sandbox : context.service(options.service)
    await install(sandbox, options, context)
    await using bridge = await openBridge(context, { sandbox, models: options.models, port: options.port })
    const facts = {
      prompt: textOf(context.sample.input),
      url: bridge.url,
      model: options.model ?? 'belljar',
      sample: context.sample,
    }
    return await new CliProgram(options, { context, sandbox, bridge, facts }).run()
  }
  Object.defineProperty(agent, 'name', { value: options.name })
  return agent
}

async function install(
  sandbox: Sandbox,
  { name, install: script, installTimeoutMs = 600_000 }: CliAgentOptions,
  { signal }: AgentContext,
): Promise<void> {
  if (script === undefined) return
  const options = { name: 'install', user: '0', timeoutMs: installTimeoutMs, signal }
  const result = await runScript(sandbox, script, options)
  if (result.exitCode === 0) return
  throw new BelljarError(
    'agent-install-failed',
    `'${name}' could not be installed (${endOf(result)}):\n${outputTail(result)}`,
  )
}

interface ProgramParts {
  readonly context: AgentContext
  readonly sandbox: Sandbox
  readonly bridge: Bridge
  readonly facts: CliAgentFacts
}

/** One run of the program. */
class CliProgram {
  readonly #options: CliAgentOptions
  readonly #parts: ProgramParts

  constructor(options: CliAgentOptions, parts: ProgramParts) {
    this.#options = options
    this.#parts = parts
  }

  async run(): Promise<string> {
    const { context, sandbox, bridge } = this.#parts
    await this.#writeFiles()
    using ending = linkedController(context.signal, bridge.failed)
    const input = this.#of(this.#options.input)
    const command = this.#of(this.#options.command)
    const process = await sandbox.spawn(command, {
      user: this.#options.user,
      cwd: this.#options.cwd,
      env: { ...bridge.env, ...this.#of(this.#options.env) },
      stdin: input !== undefined,
      signal: ending.signal,
    })
    const [stdout, stderr] = [this.#log('stdout'), this.#log('stderr')]
    const [exit] = await Promise.all([
      process.wait(),
      stdout.read(process.stdout),
      stderr.read(process.stderr),
      write(process, input),
    ])
    ending.signal.throwIfAborted()
    const output = { stdout: stdout.text, stderr: stderr.text }
    this.#check(command, exit, output)
    const { parse = (run) => run.stdout.trim() } = this.#options
    return parse({ ...output, exitCode: exit.exitCode, sandbox })
  }

  async #writeFiles(): Promise<void> {
    const { user } = this.#options
    const { sandbox, context } = this.#parts
    for (const [path, content] of Object.entries(this.#of(this.#options.files) ?? {}))
      await sandbox.writeFile(path, content, { user, signal: context.signal })
  }

  #log(stream: 'stdout' | 'stderr'): OutputLog {
    const { transcript } = this.#parts.context
    return new OutputLog({ transcript, source: this.#options.name, stream, kept: KEPT })
  }

  #check(command: readonly string[], exit: ProcessExit, output: { stdout: string; stderr: string }): void {
    const { name, acceptedExitCodes = [0] } = this.#options
    if (exit.launchError)
      throw new ConfigError(
        `cannot start ${command[0]} in the sandbox: ${exit.launchError.message}; put it into the image, or give \`install\``,
        { where: `agent '${name}'` },
      )
    if (exit.exitCode !== null && acceptedExitCodes.includes(exit.exitCode)) return
    const how = exit.signal === null ? `exit code ${exit.exitCode}` : `killed by ${exit.signal}`
    throw new BelljarError('agent-failed', `'${name}' failed (${how}):\n${outputTail(output)}`)
  }

  #of<T>(given: FromFacts<T>): T
  #of<T>(given: FromFacts<T> | undefined): T | undefined
  #of<T>(given: FromFacts<T> | undefined): T | undefined {
    return typeof given === 'function' ? (given as (facts: CliAgentFacts) => T)(this.#parts.facts) : given
  }
}

/** A program that does not read its input, or has ended, is no error of the writing. */
async function write(process: SandboxProcess, input: string | undefined): Promise<void> {
  if (input === undefined) return
  await process.write(input).catch(() => undefined)
  await process.closeStdin().catch(() => undefined)
}
