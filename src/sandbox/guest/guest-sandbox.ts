import type { Duplex } from 'node:stream'
import { SandboxFileError, SandboxUnavailableError } from '../../errors.ts'
import { listenInSandbox } from '../relay/listen.ts'
import type {
  DownloadOptions,
  ExecResult,
  FileEntry,
  FileStat,
  ListenOptions,
  ReadOptions,
  RemoveOptions,
  Sandbox,
  SandboxListener,
  SandboxProcess,
  UploadOptions,
  UserOptions,
  WriteOptions,
} from '../sandbox.ts'
import { killCommand, listCommands } from './commands.ts'
import { type GuestConnection, GuestLostError } from './connection.ts'
import { execOnGuest, type GuestExecOptions } from './exec.ts'
import { type GuestFiles, list, readFile, remove, stat, writeFile } from './files.ts'
import { toBytes } from './flow.ts'
import { type GuestSpawnOptions, spawnOnGuest } from './process.ts'
import { download, upload } from './transfer.ts'

export interface GuestSandboxOptions {
  readonly service: string
  /** The connection to use now; called for each operation, so that a provider can start a lost guest again. */
  readonly connect: () => Promise<GuestConnection>
  readonly shellCommand: () => string
  /** Where the guest's program lies, as a command in the sandbox sees it. */
  readonly program: string
  /** Drops capabilities in every command. */
  readonly strict?: boolean
  /** Says what became of the sandbox when the guest is lost. */
  readonly explain?: (lost: GuestLostError) => Promise<SandboxUnavailableError>
}

/** A service that is reached through the guest inside it. */
export class GuestSandbox implements Sandbox {
  readonly service: string
  readonly #options: GuestSandboxOptions

  constructor(options: GuestSandboxOptions) {
    this.service = options.service
    this.#options = options
  }

  exec(command: readonly string[], options: GuestExecOptions = {}): Promise<ExecResult> {
    return this.#use(({ connection }) =>
      execOnGuest(connection, command, { strict: this.#options.strict, ...options }),
    )
  }

  spawn(command: readonly string[], options: GuestSpawnOptions = {}): Promise<SandboxProcess> {
    return this.#use(({ connection }) =>
      spawnOnGuest(connection, command, {
        strict: this.#options.strict,
        explain: (lost) => this.#unavailable(lost),
        ...options,
      }),
    )
  }

  readFile(path: string, options?: ReadOptions): Promise<Uint8Array> {
    return this.#use((files) => readFile(files, path, options))
  }

  async readText(path: string, options?: ReadOptions): Promise<string> {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await this.readFile(path, options))
  }

  writeFile(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<void> {
    const bytes = toBytes(content)
    return this.#use((files) => writeFile(files, { path, content: [bytes] }, options))
  }

  upload(hostPath: string, path: string, options?: UploadOptions): Promise<void> {
    return this.#use((files) => upload(files, { hostPath, path }, options))
  }

  download(path: string, hostPath: string, options?: DownloadOptions): Promise<void> {
    return this.#use((files) => download(files, { hostPath, path }, options))
  }

  stat(path: string, options?: UserOptions): Promise<FileStat> {
    return this.#use((files) => stat(files, path, options))
  }

  async exists(path: string, options?: UserOptions): Promise<boolean> {
    return (await this.stat(path, options).catch(isMissing)) !== undefined
  }

  list(path: string, options?: UserOptions): Promise<FileEntry[]> {
    return this.#use((files) => list(files, path, options))
  }

  async remove(path: string, options: RemoveOptions = {}): Promise<void> {
    const removed = this.#use((files) => remove(files, path, options))
    await (options.force ? removed.catch(isMissing) : removed)
  }

  listen(onConnection: (connection: Duplex) => void, options: ListenOptions = {}): Promise<SandboxListener> {
    const command = [this.#options.program, '--relay']
    return listenInSandbox(this, { ...options, command, onConnection })
  }

  /** Names of what commands that have ended left running. */
  leftRunning(): Promise<string[]> {
    return this.#use(async ({ connection }) => (await listCommands(connection)).map(({ name }) => name))
  }

  /** Kills what commands that have ended left running. Returns the name of each. */
  protected killLeftBehind(): Promise<(readonly string[])[]> {
    return this.#use(async ({ connection }) => {
      const commands = await listCommands(connection)
      await Promise.all(commands.map((command) => killCommand(connection, command)))
      return commands.map(({ name }) => [name])
    })
  }

  shellCommand(): string {
    return this.#options.shellCommand()
  }

  async #use<Result>(work: (files: GuestFiles) => Promise<Result>): Promise<Result> {
    try {
      return await work({ connection: await this.#options.connect(), service: this.service })
    } catch (error) {
      if (!(error instanceof GuestLostError)) throw error
      throw await this.#unavailable(error)
    }
  }

  async #unavailable(lost: GuestLostError): Promise<SandboxUnavailableError> {
    if (this.#options.explain) return this.#options.explain(lost)
    return new SandboxUnavailableError(`service '${this.service}' is gone: ${lost.message}`, {
      reason: lost.reason === 'tampered' ? 'tampered' : 'unknown',
      service: this.service,
      cause: lost,
    })
  }
}

function isMissing(error: unknown): undefined {
  if (error instanceof SandboxFileError && (error.kind === 'not-found' || error.kind === 'not-a-directory'))
    return
  throw error
}
