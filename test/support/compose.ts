import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SandboxIdentity } from '../../src/sample/identity.ts'
import type { SandboxReport, StartedSandbox } from '../../src/sandbox/provider.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { DockerRun } from './docker.ts'
import { objectsOfRun } from './engine-objects.ts'
import { tempDir } from './temp-dir.ts'

export interface ComposeOutcome {
  readonly error: (Error & { postMortem?: string; reason?: string }) | undefined
  readonly reports: readonly SandboxReport[]
  /** What carries the run's label afterwards. */
  readonly left: readonly string[]
}

/** A compose file in a folder of its own, and a run whose sandboxes are copies of it. */
export class ComposeRun implements AsyncDisposable {
  readonly run: DockerRun
  readonly reports: SandboxReport[] = []
  readonly #folder: AsyncDisposable & { path: string }

  private constructor(run: DockerRun, folder: AsyncDisposable & { path: string }) {
    this.run = run
    this.#folder = folder
  }

  static async open(
    compose: string,
    files: Readonly<Record<string, string>> = {},
    options: Parameters<typeof DockerRun.open>[0] = {},
  ): Promise<ComposeRun> {
    const folder = await tempDir()
    for (const [name, content] of Object.entries({ ...files, 'compose.yaml': compose })) {
      await mkdir(dirname(join(folder.path, name)), { recursive: true })
      await writeFile(join(folder.path, name), content)
    }
    return new ComposeRun(await DockerRun.open(options), folder)
  }

  get folder(): string {
    return this.#folder.path
  }

  start(options: { signal?: AbortSignal; identity?: SandboxIdentity } = {}): Promise<StartedSandbox> {
    const report = (one: SandboxReport) => void this.reports.push(one)
    return this.run.start(
      { compose: 'compose.yaml' },
      {
        taskDirectory: this.folder,
        context: { report, ...(options.signal && { signal: options.signal }) },
        ...(options.identity && { identity: options.identity }),
      },
    )
  }

  /** For starts that are to fail. */
  async outcome(options: { signal?: AbortSignal } = {}): Promise<ComposeOutcome> {
    const error = await this.start(options).then(
      () => undefined,
      (thrown: Error) => thrown,
    )
    const objects = await objectsOfRun(this.run.run)
    return { error, reports: this.reports, left: objects.filter((name) => !name.includes('guest')) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run[Symbol.asyncDispose]()
    await this.#folder[Symbol.asyncDispose]()
  }
}

/** Standard output of a shell command, which must succeed. */
export async function sh(sandbox: Sandbox | undefined, script: string): Promise<string> {
  if (!sandbox) throw new Error('there is no such service')
  const result = await sandbox.exec(['sh', '-c', script], { timeoutMs: 20_000 })
  if (result.exitCode !== 0) throw new Error(`${script}: ${JSON.stringify(result)}`)
  return result.stdout.trim()
}
