import { LimitExceededError, ModelError } from '../../errors.ts'
import { textOf } from '../../sample/content.ts'
import type { Sandbox, SandboxListener } from '../../sandbox/sandbox.ts'
import type { AgentContext } from '../agent.ts'
import type { Message } from '../messages.ts'
import type { Model, ModelOutput } from '../model.ts'
import { type ApiCall, ApiError } from './api/api.ts'
import { BridgeServer } from './bridge-server.ts'

export interface BridgeOptions {
  /** Where the programs run (default: the sandbox's default service). */
  readonly sandbox?: Sandbox
  /** Default: any that is free. */
  readonly port?: number
  /** What answers for a model that a program names; default: the agent's model for every name. A text is a role. */
  readonly models?: Readonly<Record<string, Model | string>>
}

/** A port inside the sandbox at which programs find the run's models. Disposing it closes the port. */
export interface Bridge extends AsyncDisposable {
  readonly port: number
  /** Such as `http://127.0.0.1:43121`, without `/v1`. */
  readonly url: string
  /** For programs that look for a provider: addresses of all protocols, and keys that are none. */
  readonly env: Readonly<Record<string, string>>
  /** Aborted when no more calls can be answered: a limit was reached, a model failed, the sandbox is gone. The reason is the error. */
  readonly failed: AbortSignal
}

/**
 * Gives programs in a sandbox the models of the run, under the sample's limits and in its log, also where the sandbox has no network.
 * Speaks OpenAI's chat completions and responses, Anthropic's messages and Google's generateContent.
 * @throws UnsupportedError where the sandbox has no guest
 */
export async function openBridge(context: AgentContext, options: BridgeOptions = {}): Promise<Bridge> {
  const { sandbox = context.sandbox, port } = options
  const calls = new BridgeCalls(context, options.models ?? {})
  const server = new BridgeServer({
    generate: (call, signal) => calls.generate(call, signal),
    models: () => [context.model.name, ...Object.keys(options.models ?? {})],
  })
  const listener = await sandbox.listen((connection) => server.serve(connection), {
    port,
    signal: context.signal,
  })
  listener.closed.catch((error: unknown) => calls.fail(error))
  return new OpenBridge(listener, { server, calls })
}

class OpenBridge implements Bridge {
  readonly port: number
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  readonly failed: AbortSignal
  readonly #listener: SandboxListener
  readonly #server: BridgeServer

  constructor(listener: SandboxListener, { server, calls }: { server: BridgeServer; calls: BridgeCalls }) {
    this.port = listener.port
    this.url = `http://127.0.0.1:${listener.port}`
    this.env = providerEnv(this.url)
    this.failed = calls.failed
    this.#listener = listener
    this.#server = server
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener[Symbol.asyncDispose]()
    this.#server.close()
  }
}

/** Programs refuse to start without a key; this is none. */
const NO_KEY = 'belljar'

function providerEnv(url: string): Record<string, string> {
  return {
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_BASE: `${url}/v1`,
    OPENAI_API_KEY: NO_KEY,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: NO_KEY,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: NO_KEY,
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
  }
}

/** Answers calls with models of the run, and follows the conversation of the program in the agent's state. */
class BridgeCalls {
  readonly #context: AgentContext
  readonly #models: Readonly<Record<string, Model | string>>
  readonly #failed = new AbortController()
  readonly #told = new Set<string>()

  constructor(context: AgentContext, models: Readonly<Record<string, Model | string>>) {
    this.#context = context
    this.#models = models
  }

  get failed(): AbortSignal {
    return this.#failed.signal
  }

  fail(error: unknown): void {
    this.#failed.abort(error)
  }

  async generate(call: ApiCall, signal: AbortSignal): Promise<ModelOutput> {
    this.#tellIgnored(call.ignored)
    if (this.failed.aborted) throw new ApiError(403, String((this.failed.reason as Error).message))
    const { budget } = this.#context
    try {
      const output = await this.#modelFor(call.model).generate({ ...call.request, signal })
      this.#follow(call.request.messages, output)
      budget.check()
      return output
    } catch (error) {
      throw this.#refusal(error, signal)
    }
  }

  #modelFor(name: string): Model {
    const { context, models } = { context: this.#context, models: this.#models }
    const chosen = Object.hasOwn(models, name) ? models[name] : undefined
    if (chosen === undefined) return context.model
    return typeof chosen === 'string' ? context.modelRole(chosen) : context.metered(chosen)
  }

  /** What the program can do something about it is told; everything else ends the agent. */
  #refusal(error: unknown, signal: AbortSignal): ApiError {
    if (signal.aborted) return new ApiError(499, 'the connection was closed')
    const message = error instanceof Error ? error.message : String(error)
    if (error instanceof ModelError && (error.kind === 'context-length' || error.kind === 'request'))
      return new ApiError(error.status ?? 400, message, { cause: error })
    this.fail(error)
    return new ApiError(error instanceof LimitExceededError ? 403 : 500, message, { cause: error })
  }

  /** The longest conversation is the agent's; shorter ones are asides, such as making a title. */
  #follow(messages: readonly Message[], { message }: ModelOutput): void {
    const { state } = this.#context
    if (messages.length + 1 < state.messages.length) return
    state.messages.splice(0, state.messages.length, ...messages, message)
    state.output = textOf(message.content) || state.output
  }

  #tellIgnored(ignored: readonly string[]): void {
    const fresh = ignored.filter((what) => !this.#told.has(what))
    if (fresh.length === 0) return
    for (const what of fresh) this.#told.add(what)
    this.#context.transcript.record({
      type: 'info',
      startedMs: Date.now(),
      source: 'bridge',
      data: { ignored: fresh, reason: 'a provider would run these itself' },
    })
  }
}
