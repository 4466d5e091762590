// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are variables of compose files
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resolveCompose, resolveComposeServices } from '../../../../src/sandbox/compose/resolve.ts'

const corpus = fileURLToPath(new URL('../../../corpus/compose', import.meta.url))

let folder = ''

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'belljar-resolve-')))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text: string): void {
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), text)
}

function resolveHere(file: string | string[] = 'compose.yaml', metadata: Record<string, unknown> = {}) {
  return resolveCompose(file, { taskDirectory: folder, metadata })
}

describe('resolveCompose', () => {
  it('names the file above Compose`s own message', async () => {
    write('compose.yaml', 'services:\n  a:\n    imagee: x\n')
    await expect(resolveHere()).rejects.toThrow(/^compose\.yaml: Compose rejects the file:\n.*imagee/)
  })

  it('leaves it to Compose to say what is wrong with the YAML', async () => {
    write('compose.yaml', 'services:\n a: { image: x }\n a: { image: y }\n')
    await expect(resolveHere()).rejects.toThrow(/Compose rejects the file:\n.*already defined/)
  })

  it('does not trust Compose alone with YAML that it reads and belljar does not', async () => {
    const aliases = Array.from(
      { length: 3 },
      (_, level) => `x-${level + 1}: &a${level + 1} [${`*a${level},`.repeat(8)}]`,
    )
    write('compose.yaml', `x-0: &a0 [1]\n${aliases.join('\n')}\nservices: { a: { image: x } }\n`)
    await expect(resolveHere()).rejects.toThrow(/compose\.yaml: (not readable as YAML|Compose rejects)/)
  })

  it.each(['env_file: dir', 'extends: { file: dir, service: a }'])(
    'refuses to read %s, a folder',
    async (line) => {
      mkdirSync(join(folder, 'dir'))
      write('compose.yaml', `services:\n  a:\n    image: x\n    ${line}\n`)
      await expect(resolveHere()).rejects.toThrow(`${folder}/dir: expected a file`)
    },
  )

  it('says that a file is missing', async () => {
    await expect(resolveHere('no.yaml')).rejects.toThrow('no.yaml: there is no such compose file')
  })

  it('gives Compose only the sample metadata that the file names', async () => {
    write(
      'compose.yaml',
      'services:\n  a:\n    image: "repo:${SAMPLE_METADATA_TAG}"\n    environment: ["M=${SAMPLE_METADATA_BIG_ONE:-}"]\n',
    )
    const { plan } = await resolveHere('compose.yaml', { tag: 'v7', huge: 'x'.repeat(200_000), 'odd-key': 1 })
    expect(plan.services[0]?.image).toMatchObject({ kind: 'reference', reference: 'repo:v7' })
  })

  it('makes each set of metadata that is used a resolution of its own, and one of the unused', async () => {
    write('compose.yaml', 'services:\n  a:\n    image: "repo:${SAMPLE_METADATA_TAG}"\n')
    const [first, again, other] = await Promise.all([
      resolveHere('compose.yaml', { tag: 'a', unused: 1 }),
      resolveHere('compose.yaml', { tag: 'a', unused: 2 }),
      resolveHere('compose.yaml', { tag: 'b' }),
    ])
    expect(again).toBe(first)
    expect(other).not.toBe(first)
  })

  it('reads a changed file anew', async () => {
    write('compose.yaml', 'services: { a: { image: one } }')
    await resolveHere()
    write('compose.yaml', 'services: { a: { image: two } }')
    expect((await resolveHere()).plan.services[0]?.image).toMatchObject({ reference: 'two' })
  })

  it('refuses an image that an unset variable leaves without name or tag', async () => {
    write('compose.yaml', 'services:\n  a:\n    image: "repo:${TAG_OF_NOBODY}"\n')
    await expect(resolveHere()).rejects.toThrow(/services\.a\.image: .*needs TAG_OF_NOBODY/)
    write('compose.yaml', 'services:\n  a:\n    image: "${TAG_OF_NOBODY}"\n')
    await expect(resolveHere()).rejects.toThrow('TAG_OF_NOBODY')
  })

  it('warns once of a variable that is not set elsewhere', async () => {
    write(
      'compose.yaml',
      'services:\n  a:\n    image: x\n    environment: ["A=${OF_NOBODY}", "B=${OF_NOBODY}"]\n',
    )
    const { warnings } = await resolveHere()
    expect(warnings).toEqual(['compose.yaml: the variable OF_NOBODY is not set and has no default: empty'])
  })

  it('knows nothing of the host`s environment, and PWD is the file`s folder', async () => {
    process.env.BELLJAR_TEST_SECRET = 'leaked'
    try {
      write(
        'sub/compose.yaml',
        'services:\n  a:\n    image: x\n    environment: ["S=${BELLJAR_TEST_SECRET-no}", BELLJAR_TEST_SECRET, "H=${HOME-no}", "P=${PWD}"]\n',
      )
      const { plan } = await resolveHere('sub/compose.yaml')
      expect(plan.services[0]?.container.env.toSorted()).toEqual([
        'BELLJAR_TEST_SECRET',
        'H=no',
        `P=${folder}/sub`,
        'S=no',
      ])
    } finally {
      delete process.env.BELLJAR_TEST_SECRET
    }
  })

  it('merges several files in order', async () => {
    write('compose.yaml', 'services: { a: { image: one, command: [x] } }')
    write('over.yaml', 'services: { a: { image: two, command: [] } }')
    const { plan } = await resolveHere(['compose.yaml', 'over.yaml'])
    expect(plan.services[0]).toMatchObject({ image: { reference: 'two' }, container: { command: [] } })
  })

  it('does not let Compose open a refused file, and still names what else is refused', async () => {
    write(
      'task/compose.yaml',
      'services:\n  a:\n    image: x\n    privileged: true\n    env_file: ../secret.env\n',
    )
    write('secret.env', 'S=1')
    const outcome = resolveCompose('compose.yaml', { taskDirectory: join(folder, 'task') })
    await expect(outcome).rejects.toThrow(/privileged[\s\S]*secret\.env|secret\.env[\s\S]*privileged/)
  })

  it('refuses a .env file that is a link to elsewhere', async () => {
    write('secret.env', 'S=1')
    write('task/compose.yaml', 'services:\n  a:\n    image: x\n    environment: ["S=${S-}"]\n')
    symlinkSync('../secret.env', join(folder, 'task/.env'))
    await expect(resolveCompose('compose.yaml', { taskDirectory: join(folder, 'task') })).rejects.toThrow(
      `allow: 'file:${folder}/task/.env'`,
    )
  })

  it('gives up when the caller aborts', async () => {
    write('compose.yaml', 'services: { a: { image: aborted } }')
    const controller = new AbortController()
    const outcome = resolveCompose('compose.yaml', { taskDirectory: folder, signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(outcome).rejects.toThrow('enough')
    expect((await resolveHere()).plan.services).toHaveLength(1)
  })

  it('is the same from wherever it is called', async () => {
    cpSync(join(corpus, 'valid'), folder, { recursive: true })
    const before = process.cwd()
    const here = await resolveHere('extends.yaml')
    try {
      process.chdir('/')
      expect((await resolveHere('extends.yaml')).plan).toEqual(here.plan)
    } finally {
      process.chdir(before)
    }
    const binds = here.plan.services[0]?.container.hostConfig.Binds
    expect(binds).toEqual([`${folder}/files/base/d:/d:rw`])
  })

  it('lists all that no plan can express at once', async () => {
    const outcome = resolveCompose('many.yaml', { taskDirectory: join(corpus, 'unsupported') })
    const places = [
      'services.main.external_links',
      'services.main.credential_spec',
      'services.main.use_api_socket',
      'services.main.labels.belljar.run',
      'services.main.models',
      'services.tool.provider',
      'models',
      'secrets.swarm.external',
      'secrets.unset.environment',
    ]
    const message = await outcome.then(String, String)
    for (const place of places) expect(message).toContain(`  ${place}`)
  })

  it('says what a volume name of one letter comes to', async () => {
    const outcome = resolveCompose('volume-one-letter.yaml', { taskDirectory: join(corpus, 'unsupported') })
    await expect(outcome).rejects.toThrow("'v:/data' is no absolute path")
  })

  it('reports once each what it rewrites for copies side by side', async () => {
    const { plan, warnings } = await resolveCompose('everything-fixed.yaml', {
      taskDirectory: join(corpus, 'rewritten'),
    })
    expect(warnings.map((line) => line.split(': ')[1])).toEqual([
      'services.main.container_name',
      'services.main.ports[0]',
      'services.main.networks.lan.ipv4_address',
      'networks.lan.name',
      'networks.lan.ipam',
      'networks.lan.driver_opts.com.docker.network.bridge.name',
      'networks.outer',
      'volumes.data.name',
    ])
    expect(JSON.stringify(plan)).not.toMatch(/fixed-(network|volume|project)|10\.251|8080|br-fixed|ctfnet/)
    expect(plan.services[0]?.endpoints?.lan?.Aliases).toEqual(['main', 'fixed-container'])
  })

  it('gives a private network in place of the host`s bridge', async () => {
    const { plan, warnings } = await resolveCompose('network-mode-bridge.yaml', {
      taskDirectory: join(corpus, 'rewritten'),
    })
    expect(plan.services[0]).toMatchObject({ networks: ['bridge'] })
    expect(plan.networks).toEqual([{ name: 'bridge', internal: false }])
    expect(warnings).toHaveLength(1)
  })
})

describe('resolveComposeServices', () => {
  it('starts relative paths at the task`s folder and goes the same way', async () => {
    mkdirSync(join(folder, 'data'))
    const { plan, description } = await resolveComposeServices(
      { services: { a: { image: 'x', volumes: ['./data:/d'], command: ['echo', '$$HOME'] } } },
      { taskDirectory: folder },
    )
    expect(description).toBe('compose services')
    expect(plan.services[0]?.container).toMatchObject({
      command: ['echo', '$HOME'],
      hostConfig: { Binds: [`${folder}/data:/d:rw`] },
    })
  })

  it('refuses what a file may not have either', async () => {
    const outcome = resolveComposeServices(
      { services: { a: { image: 'x', privileged: true } } },
      { taskDirectory: folder },
    )
    await expect(outcome).rejects.toThrow(
      'services: refused, unless the task names it in `allow`:\n  services.a.privileged',
    )
  })
})
