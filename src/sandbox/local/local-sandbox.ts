import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorMessage, SandboxUnavailableError } from '../../errors.ts'
import type { SandboxIdentity } from '../../sample/identity.ts'
import { childStream } from '../guest/child-stream.ts'
import { GuestConnection, type GuestLostError } from '../guest/connection.ts'
import { TrackedGuestSandbox } from '../guest/tracked-sandbox.ts'
import type { RemovalReport, StartedSandbox, StopOptions } from '../provider.ts'
import type { Sandbox } from '../sandbox.ts'
import { localEnvironment } from './local-environment.ts'

const SERVICE = 'default'
const ENDED_MS = 20_000

/** A folder of this host and a guest in it: commands run on the host itself, kept apart by nothing. */
export class LocalSandbox implements StartedSandbox {
  readonly identity: SandboxIdentity
  readonly default: TrackedGuestSandbox
  readonly services: ReadonlyMap<string, Sandbox>
  readonly #folder: string
  readonly #child: ChildProcess
  readonly #connection: GuestConnection
  readonly #ended: Promise<unknown>
  #removal: Promise<RemovalReport> | undefined

  private constructor(
    identity: SandboxIdentity,
    parts: { binary: string; folder: string; child: ChildProcess; connection: GuestConnection },
  ) {
    this.identity = identity
    this.#folder = parts.folder
    this.#child = parts.child
    this.#connection = parts.connection
    this.#ended = new Promise((resolve) => parts.child.once('exit', resolve))
    this.default = new TrackedGuestSandbox({
      service: SERVICE,
      connect: async () => parts.connection,
      explain: async (lost) => this.#explain(lost),
      program: parts.binary,
      shellCommand: () => `cd '${parts.folder.replaceAll("'", "'\\''")}' && sh`,
    })
    this.services = new Map([[SERVICE, this.default]])
  }

  /** @throws SandboxUnavailableError with reason 'start' */
  static async start(
    binary: string,
    identity: SandboxIdentity,
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<LocalSandbox> {
    options.signal?.throwIfAborted()
    const folder = await mkdtemp(join(tmpdir(), 'belljar-local-'))
    const env = localEnvironment(folder, process.env)
    const child = spawn(binary, ['--local'], { cwd: folder, env, stdio: ['pipe', 'pipe', 'ignore'] })
    child.on('error', () => undefined)
    try {
      const connection = await GuestConnection.open(childStream(child), {
        hello: { cwd: folder, env },
        ...options,
      })
      return new LocalSandbox(identity, { binary, folder, child, connection })
    } catch (error) {
      child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
      options.signal?.throwIfAborted()
      throw new SandboxUnavailableError(`the local sandbox did not start: ${errorMessage(error)}`, {
        reason: 'start',
        service: SERVICE,
        cause: error,
      })
    }
  }

  stopCommands(options?: StopOptions): Promise<readonly (readonly string[])[]> {
    return this.default.stopCommands(new Error('the commands of this sandbox were stopped'), options)
  }

  leftRunning(): Promise<readonly string[]> {
    return this.default.leftRunning()
  }

  remove(): Promise<RemovalReport> {
    this.#removal ??= this.#remove()
    return this.#removal
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }

  /** Its guest kills all that was started through it, background processes among them, before it ends. */
  async #remove(): Promise<RemovalReport> {
    this.#connection.close()
    const late = setTimeout(() => this.#child.kill('SIGKILL'), ENDED_MS)
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.#ended
    clearTimeout(late)
    try {
      await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 })
      return { removed: 1, left: [] }
    } catch (error) {
      const command = `rm -rf ${this.#folder}`
      return {
        removed: 0,
        left: [{ kind: 'folder', name: this.#folder, reason: errorMessage(error), command }],
      }
    }
  }

  #explain(lost: GuestLostError): SandboxUnavailableError {
    const removed = this.#removal !== undefined
    return new SandboxUnavailableError(
      removed
        ? 'the local sandbox has been removed'
        : `the guest of the local sandbox has ended (${lost.reason})`,
      { reason: removed ? 'removed' : 'killed', service: SERVICE, cause: lost },
    )
  }
}
