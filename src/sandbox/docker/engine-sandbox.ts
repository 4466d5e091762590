import { UnsupportedError } from '../../errors.ts'
import type { StopOptions } from '../provider.ts'
import type {
  DownloadOptions,
  ExecOptions,
  ExecResult,
  FileEntry,
  FileStat,
  ReadOptions,
  RemoveOptions,
  SandboxListener,
  SandboxProcess,
  SpawnOptions,
  UploadOptions,
  UserOptions,
  WriteOptions,
} from '../sandbox.ts'
import type { ContainerRef } from './container/container-ref.ts'
import { PAUSED, unavailable } from './container/post-mortem.ts'
import { onLastingPause, resumed } from './events/lasting-pause.ts'
import { Commands } from './exec/commands.ts'
import { killAllCommands } from './exec/kill.ts'
import { runCommand } from './exec/run-command.ts'
import { spawnCommand } from './exec/spawn-command.ts'
import { download } from './files/download.ts'
import * as files from './files/file-calls.ts'
import { upload } from './files/upload.ts'
import { type ServiceSandbox, shellCommandOf } from './guest/service-sandbox.ts'

/** One service over the Engine's own exec and archive calls: needs a shell and a few tools in the image. */
export class EngineSandbox implements ServiceSandbox {
  readonly service: string
  readonly commands = new Commands()
  readonly #context: files.FileContext
  #hasRun = false

  constructor(container: ContainerRef) {
    this.service = container.service
    this.#context = { container, commands: this.commands }
    const watch = container.engine.events.watch(container.id)
    onLastingPause(watch, () =>
      this.commands.abandonAll(unavailable(container.service, PAUSED), resumed(watch)),
    )
  }

  get container(): ContainerRef {
    return this.#context.container
  }

  exec(command: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    this.#hasRun = true
    return runCommand(this.container, command, { ...options, commands: this.commands })
  }

  spawn(command: readonly string[], options: SpawnOptions = {}): Promise<SandboxProcess> {
    this.#hasRun = true
    return spawnCommand(this.container, command, { ...options, commands: this.commands })
  }

  readFile(path: string, options: ReadOptions = {}): Promise<Uint8Array> {
    return files.readFile(this.#context, path, options)
  }

  async readText(path: string, options: ReadOptions = {}): Promise<string> {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await this.readFile(path, options))
  }

  writeFile(path: string, content: string | Uint8Array, options: WriteOptions = {}): Promise<void> {
    return files.writeFile(this.#context, path, { ...options, content })
  }

  upload(hostPath: string, path: string, options: UploadOptions = {}): Promise<void> {
    return upload(this.#context, hostPath, { ...options, path })
  }

  download(path: string, hostPath: string, options: DownloadOptions = {}): Promise<void> {
    return download(this.#context, path, { ...options, hostPath })
  }

  stat(path: string, options: UserOptions = {}): Promise<FileStat> {
    return files.statFile(this.#context, path, options)
  }

  exists(path: string, options: UserOptions = {}): Promise<boolean> {
    return files.fileExists(this.#context, path, options)
  }

  list(path: string, options: UserOptions = {}): Promise<FileEntry[]> {
    return files.listFiles(this.#context, path, options)
  }

  remove(path: string, options: RemoveOptions = {}): Promise<void> {
    return files.removeFile(this.#context, path, options)
  }

  async listen(): Promise<SandboxListener> {
    throw new UnsupportedError('a port inside the sandbox needs the guest, and this service runs without')
  }

  shellCommand(): string {
    return shellCommandOf(this.container)
  }

  async stopCommands(
    reason: unknown,
    { leftBehind = false }: StopOptions = {},
  ): Promise<(readonly string[])[]> {
    const stopped = await this.commands.stopAll(reason)
    if (leftBehind && this.#hasRun) await killAllCommands(this.container)
    return stopped
  }
}
