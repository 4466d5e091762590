import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { Sandbox, SandboxProcess, SpawnOptions } from '../../sandbox/sandbox.ts'

export interface SandboxServer extends Pick<SpawnOptions, 'user' | 'cwd' | 'env' | 'signal'> {
  readonly command: readonly string[]
}

const LINE_MAX = 64 * 1024 * 1024
const STDERR_KEPT = 4000

/** A server in the sandbox over its standard input and output: one JSON message a line. */
export class SandboxTransport implements Transport {
  onmessage?: <T extends JSONRPCMessage>(message: T) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly #sandbox: Sandbox
  readonly #server: SandboxServer
  #process: SandboxProcess | undefined
  #stderr = ''

  constructor(sandbox: Sandbox, server: SandboxServer) {
    this.#sandbox = sandbox
    this.#server = server
  }

  /** The end of what the server wrote to its standard error. Text from a sandbox. */
  get stderr(): string {
    return this.#stderr
  }

  async start(): Promise<void> {
    const { command, ...options } = this.#server
    const process = await this.#sandbox.spawn(command, { ...options, stdin: true })
    this.#process = process
    void this.#readErrors(process)
    void this.#readMessages(process)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#process?.write(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    await this.#process?.kill()
  }

  async #readMessages(process: SandboxProcess): Promise<void> {
    const decoder = new TextDecoder()
    let held = ''
    try {
      for await (const bytes of process.stdout) {
        const lines = (held + decoder.decode(bytes, { stream: true })).split('\n')
        held = lines.pop() ?? ''
        if (held.length > LINE_MAX)
          throw new Error(`a message of the server is longer than ${LINE_MAX} characters`)
        for (const line of lines) this.#take(line)
      }
      const { launchError } = await process.wait()
      if (launchError) this.onerror?.(new Error(launchError.message))
    } catch (error) {
      this.onerror?.(error as Error)
      await process.kill().catch(() => undefined)
    }
    this.onclose?.()
  }

  /** Lines that are no messages are passed over: some servers say hello. */
  #take(line: string): void {
    try {
      this.onmessage?.(JSON.parse(line) as JSONRPCMessage)
    } catch (error) {
      if (line.trim() !== '') this.onerror?.(error as Error)
    }
  }

  async #readErrors(process: SandboxProcess): Promise<void> {
    const decoder = new TextDecoder()
    try {
      for await (const bytes of process.stderr)
        this.#stderr = (this.#stderr + decoder.decode(bytes, { stream: true })).slice(-STDERR_KEPT)
    } catch {
      // told by whoever reads the messages
    }
  }
}
