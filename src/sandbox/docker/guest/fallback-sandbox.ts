import type { Duplex } from 'node:stream'
import type { StopOptions } from '../../provider.ts'
import type {
  DownloadOptions,
  ExecOptions,
  ExecResult,
  FileEntry,
  FileStat,
  ListenOptions,
  ReadOptions,
  RemoveOptions,
  SandboxListener,
  SandboxProcess,
  SpawnOptions,
  UploadOptions,
  UserOptions,
  WriteOptions,
} from '../../sandbox.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { EngineSandbox } from '../engine-sandbox.ts'
import type { DockerGuestSandbox } from './docker-guest-sandbox.ts'
import { GuestCannotRunError } from './exec-guest.ts'
import { type ServiceSandbox, shellCommandOf } from './service-sandbox.ts'

/** A service whose guest is started at first use; where it cannot run, the Engine's exec serves from then on. */
export class FallbackSandbox implements ServiceSandbox {
  readonly service: string
  readonly container: ContainerRef
  readonly #guest: DockerGuestSandbox
  readonly #onFallback: (error: GuestCannotRunError) => void
  #chosen: Promise<ServiceSandbox> | undefined

  constructor(guest: DockerGuestSandbox, onFallback: (error: GuestCannotRunError) => void) {
    this.service = guest.service
    this.container = guest.container
    this.#guest = guest
    this.#onFallback = onFallback
  }

  async exec(command: readonly string[], options?: ExecOptions): Promise<ExecResult> {
    return (await this.#sandbox()).exec(command, options)
  }

  async spawn(command: readonly string[], options?: SpawnOptions): Promise<SandboxProcess> {
    return (await this.#sandbox()).spawn(command, options)
  }

  async readFile(path: string, options?: ReadOptions): Promise<Uint8Array> {
    return (await this.#sandbox()).readFile(path, options)
  }

  async readText(path: string, options?: ReadOptions): Promise<string> {
    return (await this.#sandbox()).readText(path, options)
  }

  async writeFile(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<void> {
    return (await this.#sandbox()).writeFile(path, content, options)
  }

  async upload(hostPath: string, path: string, options?: UploadOptions): Promise<void> {
    return (await this.#sandbox()).upload(hostPath, path, options)
  }

  async download(path: string, hostPath: string, options?: DownloadOptions): Promise<void> {
    return (await this.#sandbox()).download(path, hostPath, options)
  }

  async stat(path: string, options?: UserOptions): Promise<FileStat> {
    return (await this.#sandbox()).stat(path, options)
  }

  async exists(path: string, options?: UserOptions): Promise<boolean> {
    return (await this.#sandbox()).exists(path, options)
  }

  async list(path: string, options?: UserOptions): Promise<FileEntry[]> {
    return (await this.#sandbox()).list(path, options)
  }

  async remove(path: string, options?: RemoveOptions): Promise<void> {
    return (await this.#sandbox()).remove(path, options)
  }

  async listen(
    onConnection: (connection: Duplex) => void,
    options?: ListenOptions,
  ): Promise<SandboxListener> {
    return (await this.#sandbox()).listen(onConnection, options)
  }

  shellCommand(): string {
    return shellCommandOf(this.container)
  }

  async stopCommands(reason: unknown, options?: StopOptions): Promise<readonly (readonly string[])[]> {
    const chosen = await this.#chosen?.catch(() => undefined)
    return (await chosen?.stopCommands(reason, options)) ?? []
  }

  async leftRunning(): Promise<readonly string[]> {
    const chosen = await this.#chosen?.catch(() => undefined)
    return (await chosen?.leftRunning?.()) ?? []
  }

  end(): Promise<boolean> {
    return this.#guest.end()
  }

  #sandbox(): Promise<ServiceSandbox> {
    if (!this.#chosen) {
      const chosen = this.#choose()
      this.#chosen = chosen
      chosen.catch(() => {
        this.#chosen = undefined
      })
    }
    return this.#chosen
  }

  async #choose(): Promise<ServiceSandbox> {
    try {
      await this.#guest.ready()
      return this.#guest
    } catch (error) {
      if (!(error instanceof GuestCannotRunError)) throw error
      this.#onFallback(error)
      return new EngineSandbox(this.container)
    }
  }
}
