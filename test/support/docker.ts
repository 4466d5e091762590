import { randomBytes } from 'node:crypto'
import type { SandboxIdentity } from '../../src/sample/identity.ts'
import type { DockerConfig } from '../../src/sample/sandbox-spec.ts'
import { DockerProvider, type DockerProviderOptions } from '../../src/sandbox/docker/docker-provider.ts'
import type { ProviderContext, StartedSandbox } from '../../src/sandbox/provider.ts'

/** A provider under a run id of its own; disposing it removes whatever carries that id. */
export class DockerRun implements AsyncDisposable {
  readonly run = `test-${randomBytes(6).toString('hex')}`
  readonly provider: DockerProvider
  #samples = 0

  private constructor(provider: DockerProvider) {
    this.provider = provider
  }

  static async open(options: DockerProviderOptions = {}): Promise<DockerRun> {
    return new DockerRun(await DockerProvider.connect(options))
  }

  identity(fields: Partial<SandboxIdentity> = {}): SandboxIdentity {
    this.#samples += 1
    return {
      run: this.run,
      eval: 'eval-1',
      task: 'docker-test',
      sample: `sample-${this.#samples}`,
      epoch: 1,
      attempt: 1,
      ...fields,
    }
  }

  /** Resolves, initialises and starts a sandbox in one go. */
  async start(
    config: DockerConfig = { image: 'busybox:latest' },
    options: { taskDirectory?: string; identity?: SandboxIdentity; context?: ProviderContext } = {},
  ): Promise<StartedSandbox> {
    const { taskDirectory = '/', identity = this.identity(), context = {} } = options
    const resolved = await this.provider.resolve({ kind: 'docker', config }, { taskDirectory })
    await this.provider.taskInit(resolved, context)
    return this.provider.sampleInit(resolved, identity, context)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { left } = await this.provider.remove({ run: this.run })
    await this.provider.close()
    if (left.length > 0) throw new Error(`left behind: ${JSON.stringify(left)}`)
  }
}
