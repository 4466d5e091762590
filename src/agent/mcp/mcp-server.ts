import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { z } from 'zod'
import { ConfigError, errorMessage } from '../../errors.ts'
import type { Content, ContentPart } from '../../sample/content.ts'
import { globPattern } from '../../util/glob.ts'
import { VERSION } from '../../util/version.ts'
import type { AgentContext } from '../agent.ts'
import { cappedText } from '../output-text.ts'
import { type OpenTools, type Tool, ToolCallError, type ToolSource } from '../tool.ts'
import { SandboxTransport } from './sandbox-transport.ts'

interface Common {
  /** In errors; also what the names of tools begin with where `prefix` is set. */
  readonly name: string
  /** Patterns of the tools to take (default: all). */
  readonly tools?: readonly string[]
  /** Names of tools become `NAME_TOOL`, so that two servers may have the same (default false). */
  readonly prefix?: boolean
  /** Deadline of one call in milliseconds (default 120,000). */
  readonly timeoutMs?: number
  /** How many characters of a result the model is shown (default 65,536); the middle is left out. */
  readonly maxOutputCharacters?: number
}

/** Where a server is: a program in the sandbox, a program on this host, or an address. */
export type McpServerOptions = Common &
  (
    | {
        readonly in?: 'sandbox'
        readonly command: readonly string[]
        readonly env?: Readonly<Record<string, string>>
        readonly cwd?: string
        readonly user?: string
        readonly service?: string
      }
    | {
        readonly in: 'host'
        readonly command: readonly string[]
        /** The host's own variables are not passed on, but for what the SDK calls safe. */
        readonly env?: Readonly<Record<string, string>>
        readonly cwd?: string
      }
    | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  )

/**
 * The tools of a server that speaks the Model Context Protocol, for `toolLoop`. The server runs while the agent works.
 * Needs the package `@modelcontextprotocol/sdk`: @throws ConfigError without it, or when the server does not start
 */
export function mcpServer(options: McpServerOptions): ToolSource {
  return {
    async open(context) {
      const { Client } = await loadSdk(() => import('@modelcontextprotocol/sdk/client/index.js'))
      const client = new Client({ name: 'belljar', version: VERSION })
      const transport = await transportOf(options, context)
      try {
        await client.connect(transport, { signal: context.signal })
        return new ServerTools(client, await toolsOf(client, options))
      } catch (error) {
        await client.close().catch(() => undefined)
        context.signal.throwIfAborted()
        throw new ConfigError(startFailure(error, transport), {
          where: `MCP server '${options.name}'`,
          cause: error,
        })
      }
    },
  }
}

async function loadSdk<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    throw new ConfigError(
      'MCP servers need the package @modelcontextprotocol/sdk: npm install @modelcontextprotocol/sdk',
      {
        cause,
      },
    )
  }
}

async function transportOf(options: McpServerOptions, context: AgentContext): Promise<Transport> {
  if ('url' in options) {
    const { StreamableHTTPClientTransport } = await loadSdk(
      () => import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    )
    return new StreamableHTTPClientTransport(new URL(options.url), {
      requestInit: { headers: { ...options.headers } },
    })
  }
  const { command, env, cwd } = options
  if (options.in === 'host') {
    const { StdioClientTransport } = await loadSdk(() => import('@modelcontextprotocol/sdk/client/stdio.js'))
    const [program = '', ...args] = command
    return new StdioClientTransport({
      command: program,
      args,
      cwd,
      stderr: 'ignore',
      ...(env && { env: { ...env } }),
    })
  }
  const sandbox = options.service === undefined ? context.sandbox : context.service(options.service)
  return new SandboxTransport(sandbox, { command, env, cwd, user: options.user, signal: context.signal })
}

function startFailure(error: unknown, transport: Transport): string {
  const said = transport instanceof SandboxTransport ? transport.stderr.trim() : ''
  return `does not answer: ${errorMessage(error)}${said === '' ? '' : `\n${said}`}`
}

class ServerTools implements OpenTools {
  readonly tools: readonly Tool[]
  readonly #client: Client

  constructor(client: Client, tools: readonly Tool[]) {
    this.tools = tools
    this.#client = client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close()
  }
}

type ServerTool = Awaited<ReturnType<Client['listTools']>>['tools'][number]

async function toolsOf(client: Client, options: McpServerOptions): Promise<Tool[]> {
  const patterns = options.tools?.map(globPattern)
  const tools: Tool[] = []
  let cursor: string | undefined
  do {
    const page = await client.listTools({ cursor })
    const taken = page.tools.filter(({ name }) => patterns?.some((pattern) => pattern.test(name)) ?? true)
    tools.push(...taken.map((tool) => toolOf(tool, client, options)))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return tools
}

function toolOf(
  { name, description, inputSchema }: ServerTool,
  client: Client,
  options: McpServerOptions,
): Tool {
  const { timeoutMs = 120_000, maxOutputCharacters = 65_536, prefix } = options
  return {
    name: prefix ? `${options.name}_${name}` : name,
    description: description ?? '',
    parameters: z.looseObject({}),
    schema: inputSchema,
    final: false,
    async call(input, { signal }) {
      const { McpError } = await loadSdk(() => import('@modelcontextprotocol/sdk/types.js'))
      const asked = { name, arguments: input as Record<string, unknown> }
      try {
        const result = await client.callTool(asked, undefined, { timeout: timeoutMs, signal })
        const content = contentOf(result, maxOutputCharacters)
        if (result.isError !== true) return content
        throw new ToolCallError('failed', typeof content === 'string' ? content : 'the tool failed')
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof McpError)) throw error
        throw new ToolCallError(error.code === REQUEST_TIMEOUT ? 'timeout' : 'failed', error.message, {
          cause: error,
        })
      }
    },
  }
}

const REQUEST_TIMEOUT = -32001

function contentOf(result: Readonly<Record<string, unknown>>, max: number): Content {
  const parts = (Array.isArray(result.content) ? result.content : []).map((part) => partOf(part, max))
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return text.length === parts.length ? cappedText(text.join('\n'), max) : parts
}

interface ServerPart {
  readonly type?: string
  readonly text?: string
  readonly data?: string
  readonly mimeType?: string
  readonly resource?: { readonly text?: string }
}

function partOf(part: ServerPart, max: number): ContentPart {
  const { type, data, mimeType } = part
  if ((type === 'image' || type === 'audio') && data !== undefined && mimeType !== undefined)
    return { type, data, mediaType: mimeType }
  const text = part.text ?? part.resource?.text ?? JSON.stringify(part)
  return { type: 'text', text: cappedText(text, max) }
}
