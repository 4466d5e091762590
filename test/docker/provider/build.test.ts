import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError, SandboxInitError } from '../../../src/errors.ts'
import type { DockerConfig } from '../../../src/sample/sandbox-spec.ts'
import { DockerProvider } from '../../../src/sandbox/docker/docker-provider.ts'
import { Engine } from '../../../src/sandbox/docker/engine/engine.ts'
import { DockerRun } from '../../support/docker.ts'

let run: DockerRun
let folder: string
const images = new Set<string>()

beforeAll(async () => {
  run = await DockerRun.open()
})
afterAll(async () => {
  await run[Symbol.asyncDispose]()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belljar-build-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
  for (const id of images)
    await run.provider.engine.control
      .getImage(id)
      .remove({ force: true })
      .catch(() => undefined)
  images.clear()
})

async function files(contents: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}

/** A text of its own in each test run, so that nothing is found built. */
const unique = () => `# ${Math.random()}\n`
const resolve = (build: DockerConfig['build'] = '.') =>
  run.provider.resolve({ kind: 'docker', config: { build } }, { taskDirectory: folder })

async function init(build?: DockerConfig['build'], provider = run.provider, signal?: AbortSignal) {
  const messages: string[] = []
  const config = await resolve(build)
  const facts = await provider.taskInit(config, {
    report: ({ message }) => messages.push(message),
    ...(signal && { signal }),
  })
  images.add(facts.images.default!)
  return { config, messages, image: facts.images.default! }
}

async function fileList(build?: DockerConfig['build']): Promise<string[]> {
  const { config } = await init(build)
  const started = await run.provider.sampleInit(config, run.identity(), {})
  const { stdout } = await started.default.exec(['sh', '-c', 'cd /context && find . | sort'])
  await started.remove()
  return stdout.trim().split('\n')
}

test('twenty that ask build once, and a second run builds nothing', async () => {
  await files({ Dockerfile: `FROM busybox\n${unique()}COPY . /context\n`, 'a.txt': 'a' })
  const results = await Promise.all(Array.from({ length: 20 }, () => init()))
  expect(new Set(results.map(({ image }) => image)).size).toBe(1)
  expect(results.flatMap(({ messages }) => messages)).toHaveLength(1)
  const second = await DockerProvider.connect()
  const again = await init('.', second)
  await second.close()
  expect(again.messages).toEqual([])
  expect(again.image).toBe(results[0]!.image)
  const info = await run.provider.engine.control.getImage(again.image).inspect()
  const hash = info.RepoTags[0]!.replace('belljar-cache:', '')
  expect(info.Config.Labels).toMatchObject({ 'belljar.cache': hash })
  expect(info.Config.Labels).not.toHaveProperty(['belljar.run'])
})

test('a changed file, mode, argument or target is another configuration; a changed time is not', async () => {
  await files({ Dockerfile: 'FROM busybox AS one\nFROM one AS two\n', 'a.txt': 'a' })
  const key = async (build?: DockerConfig['build']) => (await resolve(build)).key
  const first = await key()
  await writeFile(join(folder, 'a.txt'), 'a')
  expect(await key()).toBe(first)
  await chmod(join(folder, 'a.txt'), 0o755)
  const keys = [first, await key()]
  await writeFile(join(folder, 'a.txt'), 'b')
  keys.push(
    await key(),
    await key({ context: '.', args: { X: '1' } }),
    await key({ context: '.', target: 'one' }),
  )
  expect(new Set(keys).size).toBe(5)
})

test('what .dockerignore names stays out, and what it takes back comes in', async () => {
  await files({
    Dockerfile: `FROM busybox\n${unique()}COPY . /context\n`,
    '.dockerignore': '# comment\n*.log\nnode_modules\n!node_modules/keep\n**/secret\n',
    'a.log': '',
    'b.txt': '',
    'node_modules/drop': '',
    'node_modules/keep': '',
    'x/y/secret': '',
    'x/y/open': '',
  })
  const list = await fileList()
  expect(list).toEqual(expect.arrayContaining(['./b.txt', './node_modules/keep', './x/y/open']))
  for (const name of ['./a.log', './node_modules/drop', './x/y/secret']) expect(list).not.toContain(name)
})

test('a Dockerfile outside of its context, with an ignore file of its own, arguments and a target', async () => {
  await files({
    'docker/Dockerfile.test': `FROM busybox AS wanted\n${unique()}ARG WORD\nCOPY . /context\nRUN touch "/context/$WORD"\nFROM busybox AS other\nRUN exit 1\n`,
    'docker/Dockerfile.test.dockerignore': 'drop',
    'context/drop': '',
    'context/keep': '',
  })
  const build = {
    context: 'context',
    dockerfile: join(folder, 'docker/Dockerfile.test'),
    args: { WORD: 'from-argument' },
    target: 'wanted',
  }
  const list = await fileList(build)
  expect(list).toEqual(expect.arrayContaining(['./keep', './from-argument']))
  expect(list).not.toContain('./drop')
})

describe.each([
  ['BuildKit', true],
  ['the legacy builder', false],
])('a build by %s', (_name, buildkit) => {
  let provider: DockerProvider

  beforeAll(() => {
    const { endpoint, facts } = run.provider.engine
    provider = new DockerProvider(new Engine(endpoint, { ...facts, buildkit }))
  })
  afterAll(() => provider.close())

  test('that works makes an image with the cache label', async () => {
    await files({ Dockerfile: `FROM busybox\n${unique()}RUN echo built > /made\nENV SET=yes\n` })
    const { config, image } = await init('.', provider)
    expect(image).toMatch(/^sha256:/)
    const started = await provider.sampleInit(config, run.identity(), {})
    expect(await started.default.readText('/made')).toBe('built\n')
    expect((await started.default.exec(['sh', '-c', 'echo $SET'])).stdout).toBe('yes\n')
    await started.remove()
  })

  test('that fails shows the failing step and its last 30 lines', async () => {
    const script = 'i=0; while [ $i -lt 100 ]; do i=$((i + 1)); echo "line $i"; done; exit 7'
    await files({ Dockerfile: `FROM busybox\n${unique()}RUN ${script}\n` })
    const error = await init('.', provider).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SandboxInitError)
    const { message, transient } = error as SandboxInitError
    expect(transient).toBe(false)
    expect(message).toContain('RUN i=0; while')
    expect(message).toContain('| line 100')
    expect(message).toContain('| line 71')
    expect(message).not.toContain('| line 70\n')
    expect(message).toContain('7')
  })

  test('whose Dockerfile is wrong says where', async () => {
    await files({ Dockerfile: `FROM busybox\n${unique()}RUNN true\n` })
    await expect(init('.', provider)).rejects.toThrow(/RUNN/i)
  })

  test('of a base image that does not exist names it', async () => {
    await files({ Dockerfile: `FROM 127.0.0.1:1/no/such-base:v1\n${unique()}` })
    await expect(init('.', provider)).rejects.toThrow('127.0.0.1:1/no/such-base:v1')
  })

  test('ends when it is aborted', async () => {
    await files({ Dockerfile: `FROM busybox\n${unique()}RUN sleep 300\n` })
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error('enough')), 1000)
    await expect(init('.', provider, controller.signal)).rejects.toThrow('enough')
  })
})

test('two providers that build the same at once both succeed', async () => {
  await files({ Dockerfile: `FROM busybox\n${unique()}RUN sleep 1\n` })
  const script = `
    import { DockerProvider } from '${join(process.cwd(), 'src/sandbox/docker/docker-provider.ts')}'
    const provider = await DockerProvider.connect()
    const config = await provider.resolve({ kind: 'docker', config: { build: '.' } }, { taskDirectory: '${folder}' })
    const { images } = await provider.taskInit(config, {})
    await provider.close()
    process.stdout.write(images.default)`
  const file = join(await mkdtemp(join(tmpdir(), 'belljar-script-')), 'build.ts')
  await writeFile(file, script)
  const { execFile } = await import('node:child_process')
  const { promisify } = await import('node:util')
  const other = promisify(execFile)('node_modules/.bin/jiti', [file])
  const [{ image }, { stdout }] = await Promise.all([init(), other])
  await rm(dirname(file), { recursive: true })
  const tagged = await run.provider.engine.control.getImage(stdout).inspect()
  expect(tagged.Id).toBe(stdout)
  expect(image).toMatch(/^sha256:/)
  images.add(stdout)
})

test('a missing folder or Dockerfile is named, with what is there', async () => {
  await files({ 'other.txt': '' })
  await expect(resolve()).rejects.toThrow(ConfigError)
  await expect(resolve()).rejects.toThrow(/Dockerfile.*other\.txt/)
  await expect(resolve('nowhere')).rejects.toThrow(/nowhere.*other\.txt/)
})
