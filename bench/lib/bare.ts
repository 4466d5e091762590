import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type Docker from 'dockerode'
import { extract, pack } from 'tar-stream'

const KEEP_ALIVE = ['sh', '-c', 'while :; do sleep 86400; done']

/** The bare Engine API as a program without belljar would use it. */
export class BareContainer implements AsyncDisposable {
  readonly container: Docker.Container

  private constructor(container: Docker.Container) {
    this.container = container
  }

  static async start(
    docker: Docker,
    options: { image: string; run: string; command?: string[] },
  ): Promise<BareContainer> {
    const { image, run, command = KEEP_ALIVE } = options
    const container = await docker.createContainer({
      name: `${run}-${randomBytes(4).toString('hex')}`,
      Image: image,
      Cmd: command,
      OpenStdin: true,
      WorkingDir: '/work',
      Labels: { 'belljar.run': run },
      HostConfig: { NetworkMode: 'none', Init: true },
    })
    await container.start()
    return new BareContainer(container)
  }

  /** Output to its end and the exit code. */
  async exec(command: string[]): Promise<number | null> {
    const exec = await this.container.exec({ Cmd: command, AttachStdout: true, AttachStderr: true })
    const stream = await exec.start({ hijack: true, stdin: false })
    await new Promise((resolve, reject) => stream.on('end', resolve).on('error', reject).resume())
    return (await exec.inspect()).ExitCode
  }

  async writeFile(name: string, content: Buffer): Promise<void> {
    const archive = pack()
    archive.entry({ name }, content)
    archive.finalize()
    await this.container.putArchive(archive as unknown as NodeJS.ReadableStream, { path: '/' })
  }

  async readFile(path: string): Promise<number> {
    const archive = await this.container.getArchive({ path })
    let bytes = 0
    for await (const entry of archive.pipe(extract()))
      for await (const chunk of entry) bytes += (chunk as Buffer).length
    return bytes
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.container.remove({ force: true, v: true })
  }
}

/** Milliseconds until so many bytes of output have come over one attached stream, from the moment they were asked for. */
export async function attachedOutput(
  docker: Docker,
  options: { image: string; run: string; bytes: number },
): Promise<number> {
  const command = ['sh', '-c', `read -r _; head -c ${options.bytes} /dev/zero; sleep 600`]
  await using bare = await BareContainer.start(docker, { ...options, command })
  const stream = (await bare.container.attach({
    stream: true,
    stdin: true,
    stdout: true,
    hijack: true,
  })) as unknown as Duplex
  const begin = performance.now()
  let bytes = 0
  await new Promise<void>((resolve, reject) => {
    stream.on('error', reject)
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes >= options.bytes) resolve()
    })
    stream.write('\n')
  })
  const spent = performance.now() - begin
  stream.destroy()
  return spent
}
