import { execFileSync } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DockerConfig } from '../../../src/sample/sandbox-spec.ts'
import type { DockerProviderOptions } from '../../../src/sandbox/docker/docker-provider.ts'
import type { Capability, ConformanceTarget, Flavour } from '../../../src/testing/check.ts'
import { DockerRun } from '../../support/docker.ts'

const KEEP_ALIVE = 'while :; do sleep 86400; done'

const NON_ROOT = (image: string) => `FROM ${image}
RUN echo 'agent:x:1000:1000::/home/agent:/bin/sh' >> /etc/passwd && echo 'agent:x:1000:' >> /etc/group \\
 && mkdir -p /home/agent && chown 1000:1000 /home/agent
ENV HOME=/home/agent
USER agent
WORKDIR /home/agent
`

const composeFile = (image: string, lines: readonly string[]) => `services:
  default:
    image: ${image}
    pull_policy: never
    network_mode: none
    init: true
    command: ['sh', '-c', '${KEEP_ALIVE}']
    working_dir: /work
${lines.map((line) => `    ${line}`).join('\n')}
`

export interface DockerTargetOptions extends DockerProviderOptions {
  readonly image: string
  readonly runtime?: string
  readonly lacks?: Readonly<Partial<Record<Capability, string>>>
}

/** The Docker provider with every flavour made from one image. */
export class DockerTarget implements ConformanceTarget, AsyncDisposable {
  readonly name: string
  readonly lacks: Readonly<Partial<Record<Capability, string>>>
  readonly #run: DockerRun
  readonly #folder: string
  readonly #image: string
  readonly #runtime: { readonly runtime?: string }

  private constructor(run: DockerRun, folder: string, options: DockerTargetOptions) {
    this.name = options.image
    this.lacks = options.lacks ?? {}
    this.#run = run
    this.#folder = folder
    this.#image = options.image
    this.#runtime = options.runtime ? { runtime: options.runtime } : {}
  }

  static async open(options: DockerTargetOptions): Promise<DockerTarget> {
    const folder = await mkdtemp(join(tmpdir(), 'belljar-contract-'))
    const { image, runtime } = options
    const under = runtime ? [`runtime: ${runtime}`] : []
    await mkdir(join(folder, 'non-root'))
    await writeFile(join(folder, 'non-root', 'Dockerfile'), NON_ROOT(image))
    await writeFile(
      join(folder, 'read-only.yaml'),
      composeFile(image, [...under, 'read_only: true', 'tmpfs: [/tmp, /work]']),
    )
    await writeFile(
      join(folder, 'small.yaml'),
      composeFile(image, [...under, 'pids_limit: 64', "tmpfs: ['/small:size=1m']"]),
    )
    await mkdir(join(folder, 'no-shell'))
    await copyFile(join(import.meta.dirname, 'tool.c'), join(folder, 'tool.c'))
    const tool = join(folder, 'no-shell', 'tool')
    execFileSync(process.env.CC ?? 'gcc', ['-static', '-Os', '-s', '-o', tool, join(folder, 'tool.c')])
    await writeFile(
      join(folder, 'no-shell', 'Dockerfile'),
      'FROM scratch\nCOPY tool /tool\nWORKDIR /work\nCMD ["/tool", "sleep", "86400"]\n',
    )
    return new DockerTarget(await DockerRun.open(options), folder, options)
  }

  start(flavour: Flavour) {
    return this.#run.start(this.#config(flavour), { taskDirectory: this.#folder })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true, force: true })
  }

  #config(flavour: Flavour): DockerConfig {
    switch (flavour) {
      case 'default':
        return { image: this.#image, ...this.#runtime }
      case 'non-root':
        return { build: 'non-root', ...this.#runtime }
      case 'strict':
        return { build: 'non-root', hardening: 'strict', ...this.#runtime }
      case 'no-shell':
        return { build: 'no-shell', ...this.#runtime }
      case 'read-only':
      case 'small':
        return { compose: `${flavour}.yaml` }
    }
  }
}
