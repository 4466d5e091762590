import { randomBytes } from 'node:crypto'
import { basename, posix } from 'node:path'
import { SandboxFileError } from '../../errors.ts'
import type { FileEntry, Sandbox } from '../../sandbox/sandbox.ts'

const MAX_BYTES = 16 * 1024 * 1024
/** Results are read, and what stands in their place is removed, whoever it belongs to. */
const ROOT = '0'

export interface ResultFilesOptions {
  readonly sandbox: Sandbox
  readonly paths: readonly string[]
  /** Who writes them. */
  readonly user: string | undefined
  readonly signal: AbortSignal
}

/** What became of a result that was to be written. */
export type ResultFile =
  | { readonly kind: 'written'; readonly path: string; readonly text: string }
  | { readonly kind: 'missing'; readonly path: string }
  /** It is there and may not count. */
  | { readonly kind: 'refused'; readonly path: string; readonly why: string }

/**
 * The files in which a verifier leaves its results. What is at their places before it begins is removed and told; afterwards only regular
 * files count that are no older than its begin, by the clock of the sandbox.
 */
export class ResultFiles {
  readonly #options: ResultFilesOptions
  #startedMs = Number.NEGATIVE_INFINITY

  constructor(options: ResultFilesOptions) {
    this.#options = options
  }

  /** Returns what had been planted. */
  async clear(): Promise<string[]> {
    const { sandbox, paths, signal } = this.#options
    const planted: string[] = []
    for (const path of paths) {
      if (await this.#entry(path)) planted.push(path)
      await sandbox.remove(path, { user: ROOT, signal, recursive: true, force: true })
    }
    const [first] = paths
    if (first !== undefined) this.#startedMs = await this.#now(posix.dirname(first))
    return planted
  }

  async read(path: string): Promise<ResultFile> {
    const { sandbox, signal } = this.#options
    const entry = await this.#entry(path)
    if (!entry) return { kind: 'missing', path }
    if (entry.type !== 'file') return { kind: 'refused', path, why: `it is a ${entry.type}, expected a file` }
    try {
      const { modifiedMs } = await sandbox.stat(path, { user: ROOT, signal })
      if (modifiedMs < this.#startedMs)
        return { kind: 'refused', path, why: 'it is older than the begin of the verifier' }
      const text = await sandbox.readText(path, { user: ROOT, signal, maxBytes: MAX_BYTES })
      return { kind: 'written', path, text }
    } catch (error) {
      if (!(error instanceof SandboxFileError)) throw error
      return { kind: 'refused', path, why: error.message }
    }
  }

  /** Made by whoever writes the results, in their folder, which it makes where there is none. */
  async #now(folder: string): Promise<number> {
    const { sandbox, user, signal } = this.#options
    const mark = posix.join(folder, `.belljar-${randomBytes(8).toString('hex')}`)
    await sandbox.writeFile(mark, '', { user, signal })
    const { modifiedMs } = await sandbox.stat(mark, { user, signal })
    await sandbox.remove(mark, { user, signal, force: true })
    return modifiedMs
  }

  /** Not following a link. */
  async #entry(path: string): Promise<FileEntry | undefined> {
    const { sandbox, signal } = this.#options
    try {
      const entries = await sandbox.list(posix.dirname(path), { user: ROOT, signal })
      return entries.find(({ name }) => name === basename(path))
    } catch (error) {
      if (error instanceof SandboxFileError) return undefined
      throw error
    }
  }
}
