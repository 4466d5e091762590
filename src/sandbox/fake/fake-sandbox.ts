import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SandboxFileError, UnsupportedError } from '../../errors.ts'
import type {
  DownloadOptions,
  ExecOptions,
  ExecResult,
  FileEntry,
  FileStat,
  Sandbox,
  SandboxListener,
  SandboxProcess,
} from '../sandbox.ts'

/** What a command in a fake sandbox does: an exit code, or parts of a result. Default: exit code 0 and no output. */
export type FakeExec = (
  command: readonly string[],
  options: ExecOptions,
  files: Map<string, Uint8Array>,
) => Promise<Partial<ExecResult> | void> | Partial<ExecResult> | void

/** A sandbox without a machine: files in memory, commands answered by a function. Scripts written to it exit with 0. */
export class FakeSandbox implements Sandbox {
  readonly service: string
  readonly files = new Map<string, Uint8Array>()
  readonly #exec: FakeExec

  constructor(service: string, exec: FakeExec = () => undefined) {
    this.service = service
    this.#exec = exec
  }

  async exec(command: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    options.signal?.throwIfAborted()
    const result = (await this.#exec(command, options, this.files)) ?? {}
    const { stdout = '', stderr = '' } = result
    const base = { exitCode: 0, signal: null, truncated: false, durationMs: 0, stdout, stderr }
    return {
      ...base,
      stdoutBytes: Buffer.byteLength(stdout),
      stderrBytes: Buffer.byteLength(stderr),
      ...result,
    }
  }

  async spawn(): Promise<SandboxProcess> {
    throw new UnsupportedError('a fake sandbox has no live processes')
  }

  async readFile(path: string): Promise<Uint8Array> {
    const content = this.files.get(path)
    if (content === undefined)
      throw new SandboxFileError(`no such file: ${path}`, { kind: 'not-found', path, service: this.service })
    return content
  }

  async readText(path: string): Promise<string> {
    return new TextDecoder().decode(await this.readFile(path))
  }

  async writeFile(path: string, content: string | Uint8Array): Promise<void> {
    this.files.set(path, typeof content === 'string' ? new TextEncoder().encode(content) : content)
  }

  /** Files alone: there are no folders in it. */
  async upload(hostPath: string, path: string): Promise<void> {
    if ((await stat(hostPath)).isFile()) return this.writeFile(path, await readFile(hostPath))
    for (const name of await readdir(hostPath)) await this.upload(join(hostPath, name), `${path}/${name}`)
  }

  async download(
    path: string,
    hostPath: string,
    { maxBytes = Number.POSITIVE_INFINITY }: DownloadOptions = {},
  ): Promise<void> {
    const inside = [...this.files].filter(([name]) => name.startsWith(`${path}/`))
    const found: [string, Uint8Array][] = inside.length > 0 ? inside : [[path, await this.readFile(path)]]
    const bytes = found.reduce((sum, [, { byteLength }]) => sum + byteLength, 0)
    if (bytes > maxBytes)
      throw new SandboxFileError(`${path} is too large`, { kind: 'too-large', path, service: this.service })
    for (const [name, content] of found) {
      const target = join(hostPath, name.slice(path.length))
      await mkdir(dirname(target), { recursive: true })
      await writeFile(target, content)
    }
  }

  async stat(path: string): Promise<FileStat> {
    const { byteLength } = await this.readFile(path)
    return { type: 'file', size: byteLength, mode: 0o644, uid: 0, gid: 0, modifiedMs: 0 }
  }

  async exists(path: string): Promise<boolean> {
    return this.files.has(path)
  }

  async list(path: string): Promise<FileEntry[]> {
    const prefix = path.endsWith('/') ? path : `${path}/`
    return [...this.files].flatMap(([name, content]) => {
      if (!name.startsWith(prefix)) return []
      return [
        { name: name.slice(prefix.length), type: 'file' as const, size: content.byteLength, mode: 0o644 },
      ]
    })
  }

  async remove(path: string): Promise<void> {
    this.files.delete(path)
  }

  async listen(): Promise<SandboxListener> {
    throw new UnsupportedError('a fake sandbox has no ports')
  }

  shellCommand(): string {
    return 'true'
  }
}
