import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServiceSandbox } from '../../../src/sandbox/docker/guest/service-sandbox.ts'
import type { StartedSandbox } from '../../../src/sandbox/provider.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import type { DockerRun } from '../../support/docker.ts'

/** Images for tests, built from text and removed with this. */
export class TestImages implements AsyncDisposable {
  readonly #run: DockerRun
  readonly #made: string[] = []

  constructor(run: DockerRun) {
    this.#run = run
  }

  async build(name: string, dockerfile: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'belljar-guest-test-'))
    try {
      await writeFile(join(folder, 'Dockerfile'), dockerfile)
      const { provider, run } = this.#run
      const spec = { kind: 'docker', config: { build: '.' } }
      const { images } = await provider.taskInit(await provider.resolve(spec, { taskDirectory: folder }), {})
      const id = images.default ?? ''
      const repo = `belljar-test-guest-${name}-${run}`
      await provider.engine.control.getImage(id).tag({ repo, tag: 'latest' })
      this.#made.push(repo, id)
      return repo
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { control } = this.#run.provider.engine
    for (const image of this.#made)
      await control
        .getImage(image)
        .remove({ force: true })
        .catch(() => undefined)
  }
}

/** Starts the one service of a compose file's text. */
export async function startCompose(
  run: DockerRun,
  text: string,
  options: Parameters<DockerRun['start']>[1] = {},
): Promise<StartedSandbox> {
  const folder = await mkdtemp(join(tmpdir(), 'belljar-guest-test-'))
  try {
    await writeFile(join(folder, 'compose.yaml'), text)
    return await run.start({ compose: 'compose.yaml' }, { ...options, taskDirectory: folder })
  } finally {
    await rm(folder, { recursive: true })
  }
}

export const containerOf = (sandbox: Sandbox) => (sandbox as ServiceSandbox).container

export const control = (sandbox: Sandbox) => containerOf(sandbox).control

export const sh = (sandbox: Sandbox, script: string) => sandbox.exec(['sh', '-c', script])

export const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )

export const within = async <T>(ms: number, promise: Promise<T>): Promise<T> => {
  const late = new Promise<never>((_resolve, reject) => {
    setTimeout(() => reject(new Error(`not within ${ms} ms`)), ms).unref()
  })
  return Promise.race([promise, late])
}
