import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ContainerRef } from '../../../src/sandbox/docker/container/container-ref.ts'
import { helperExec } from '../../../src/sandbox/docker/exec/helper-exec.ts'
import type { StartedSandbox } from '../../../src/sandbox/provider.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { DockerRun } from '../../support/docker.ts'
import { Outside } from '../../support/egress/outside.ts'
import { clientHello, listen, probe, probeCommand } from '../../support/egress/probe.ts'
import { tempDir } from '../../support/temp-dir.ts'

const IMAGE = 'debian:bookworm-slim'
const ALLOW = ['allowed.example', '*.suffix.example', '203.0.113.10']

/** Only root can start a second engine. */
const isRoot = process.getuid?.() === 0
const REFUSED = /^(closed|silent|refused|denied|no such name)/

let outside: Outside
let run: DockerRun
beforeAll(async () => {
  if (!isRoot) return
  outside = await Outside.open('egress', [IMAGE])
  run = await DockerRun.open({ environment: outside.environment })
})
afterAll(async () => {
  await run?.[Symbol.asyncDispose]()
  outside?.[Symbol.dispose]()
})

/** Of the way out that a sandbox has. */
async function gatewayOf(sandbox: Sandbox | undefined): Promise<string> {
  const { stdout } = (await sandbox?.exec(['cat', '/proc/net/route'])) ?? { stdout: '' }
  const way = stdout.split('\n').find((line) => line.split('\t')[1] === '00000000')
  const digits = way?.split('\t')[2] ?? ''
  return [6, 4, 2, 0].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)).join('.')
}

/** The first address of each network on the engine: where its host answers. */
async function hostAddresses(): Promise<string[]> {
  const networks = await run.provider.engine.control.listNetworks()
  const subnets = networks.flatMap(({ IPAM }) => (IPAM?.Config ?? []).flatMap(({ Subnet }) => Subnet ?? []))
  const ipv4 = subnets.filter((subnet) => !subnet.includes(':'))
  return ipv4.map((subnet) => subnet.replace(/\d+\/\d+$/, (end) => String(Number.parseInt(end, 10) + 1)))
}

const WAYS_OUT: [string, string[], string][] = [
  ['TCP to an address', ['tcp', '203.0.113.20', '80'], 'outside 203.0.113.20'],
  ['TCP to an allowed address, past the gateway', ['tcp', '203.0.113.10', '80'], 'outside 203.0.113.10'],
  ['TCP to the metadata service', ['tcp', '169.254.169.254', '80'], 'outside 169.254.169.254'],
  ['the name of a host', ['name', 'forbidden.example'], '203.0.113.20'],
  ['UDP', ['udp', '203.0.113.20', 'forbidden.example'], 'answered'],
  ['a frame of its own', ['frame'], 'allowed'],
  ['a packet sent out by an interface', ['bound', '172.17.0.1'], 'sent'],
]

describe.skipIf(!isRoot)('a sandbox of an image under an allow-list', () => {
  /** With internet, and under an allow-list. */
  let open: StartedSandbox
  let closed: StartedSandbox

  beforeAll(async () => {
    ;[open, closed] = await Promise.all([
      run.start({ image: IMAGE, network: 'internet' }),
      run.start({ image: IMAGE, network: { allow: ALLOW } }),
    ])
  })
  afterAll(() => Promise.all([open.remove(), closed.remove()]))

  it.each(WAYS_OUT)('%s does not get out', async (_, words, result) => {
    expect(await probe(open.default, ...words)).toContain(result)
    expect(await probe(closed.default, ...words)).toMatch(REFUSED)
  })

  it('cannot reach the host at any of its addresses', async () => {
    const address = await gatewayOf(open.default)
    expect(await probe(open.default, 'tcp', address, '8080')).toContain(`outside ${address}`)
    const addresses = await hostAddresses()
    expect(addresses).toContain(address)
    const answers = addresses.map((one) => probe(closed.default, 'tcp', one, '8080'))
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(REFUSED)
  })

  it('asks nobody outside for a name', async () => {
    await probe(open.default, 'name', 'secret-1.example')
    expect(outside.asked).toContain('secret-1.example')
    await probe(closed.default, 'name', 'secret-2.example')
    await probe(closed.default, 'udp', '127.0.0.11', 'secret-3.example')
    expect(outside.asked.filter((name) => /secret-[23]/.test(name))).toEqual([])
  })

  it('reaches an allowed host by its name, as any program does', async () => {
    expect(await probe(closed.default, 'tcp', 'allowed.example', '80')).toContain(
      'outside 203.0.113.10 GET / HTTP/1.1 host=allowed.example',
    )
    const hello = await clientHello('allowed.example')
    const answer = Buffer.from(await probe(closed.default, 'hex', 'allowed.example', '443', hello), 'hex')
    expect(answer.toString('latin1')).toContain('outside 203.0.113.10')
  })

  it('is refused another host that it asks for there', async () => {
    const get = 'GET / HTTP/1.1\\r\\nHost: forbidden.example\\r\\n\\r\\n'
    expect(await probe(closed.default, 'say', 'allowed.example', '80', get)).toMatch(
      /^HTTP\/1.1 403 .*forbidden\.example is not on the allow-list/s,
    )
    const hello = await clientHello('forbidden.example')
    // A fatal alert: unrecognized_name.
    expect(await probe(closed.default, 'hex', 'allowed.example', '443', hello)).toBe('15030100020270')
  })

  it('has a proxy for every program that asks for one', async () => {
    const { stdout } = await closed.default.exec([
      'sh',
      '-c',
      'echo $https_proxy $HTTP_PROXY; echo $no_proxy',
    ])
    expect(stdout).toBe(
      'http://belljar-egress:3128 http://belljar-egress:3128\nlocalhost,127.0.0.1,::1,default\n',
    )
  })

  it.each([
    ['GET http://allowed.example/a HTTP/1.1', 'outside 203.0.113.10 GET /a HTTP/1.1 host=allowed.example'],
    ['GET http://deep.suffix.example:8080/ HTTP/1.1', 'host=deep.suffix.example:8080'],
    ['GET http://203.0.113.10/ HTTP/1.1', 'outside 203.0.113.10'],
    ['CONNECT allowed.example:443 HTTP/1.1', 'HTTP/1.1 200'],
    ['CONNECT forbidden.example:443 HTTP/1.1', 'HTTP/1.1 403'],
    ['CONNECT suffix.example:443 HTTP/1.1', 'HTTP/1.1 403'],
    ['CONNECT notsuffix.example:443 HTTP/1.1', 'HTTP/1.1 403'],
    ['CONNECT 203.0.113.20:80 HTTP/1.1', 'HTTP/1.1 403'],
    ['CONNECT 169.254.169.254:80 HTTP/1.1', 'HTTP/1.1 403'],
    ['CONNECT inward.suffix.example:80 HTTP/1.1', 'HTTP/1.1 403'],
    ['CONNECT private.suffix.example:80 HTTP/1.1', 'HTTP/1.1 403'],
    ['CONNECT 127.0.0.1:80 HTTP/1.1', 'HTTP/1.1 403'],
    ['CONNECT gone.suffix.example:443 HTTP/1.1', 'HTTP/1.1 502'],
  ])('which answers %s with %s', async (line, result) => {
    const request = `${line}\\r\\nHost: forbidden.example\\r\\n\\r\\n`
    const tunnelled = line.startsWith('CONNECT allowed') ? 'GET / HTTP/1.1\\r\\n\\r\\n' : ''
    expect(await probe(closed.default, 'say', 'belljar-egress', '3128', `${request}${tunnelled}`)).toContain(
      result,
    )
  })

  it('cannot reach the sandbox of another sample', async () => {
    await using other = await run.start({ image: IMAGE, network: { allow: ALLOW } })
    const { stdout } = await other.default.exec([
      'sh',
      '-c',
      "hostname -I; awk '/belljar|allowed/ {print $1}' /etc/hosts",
    ])
    await listen(other.default, 8080, 'mine')
    const [own = '', proxy = ''] = stdout.trim().split(/\s+/)
    await expect.poll(() => probe(other.default, 'tcp', own, '8080'), { timeout: 10_000 }).toBe('mine')
    expect(await probe(other.default, 'say', proxy, '3128', 'x\\r\\n\\r\\n')).toBe('')
    expect(await probe(closed.default, 'tcp', own, '8080')).toMatch(REFUSED)
    expect(await probe(closed.default, 'say', proxy, '3128', 'x\\r\\n\\r\\n')).toMatch(REFUSED)
    const through = `CONNECT ${own}:8080 HTTP/1.1\\r\\n\\r\\n`
    expect(await probe(closed.default, 'say', 'belljar-egress', '3128', through)).toContain('403')
  })

  it('is closed over the Engine`s own exec too', async () => {
    await using plain = await DockerRun.open({ environment: outside.environment, transport: 'engine' })
    await using sandbox = await plain.start({ image: IMAGE, network: { allow: ALLOW } })
    expect(await probe(sandbox.default, 'bound', '172.17.0.1')).toMatch(REFUSED)
    expect(await probe(sandbox.default, 'tcp', 'allowed.example', '80')).toContain('outside 203.0.113.10')
  })

  it('is gone afterwards, with all that was made for it', async () => {
    const sandbox = await run.start({ image: IMAGE, network: { allow: ALLOW } })
    expect([...sandbox.services.keys()]).toEqual(['default'])
    expect(await sandbox.remove()).toEqual({ removed: 4, left: [] })
  })
})

describe.skipIf(!isRoot)('services of a compose file under an allow-list', () => {
  const service = { image: IMAGE, command: ['sleep', 'infinity'] }
  const file = {
    services: {
      web: { ...service, hostname: 'the-web', networks: ['front', 'back'], 'x-default': true },
      helper: { ...service, network_mode: 'service:web' },
      mail: { ...service, networks: { front: { aliases: ['post'] } }, deploy: { replicas: 2 } },
      db: { ...service, networks: ['back'] },
      lone: { ...service, network_mode: 'none' },
    },
    networks: { front: { enable_ipv6: true }, back: { internal: true } },
  }
  let folder: AsyncDisposable & { path: string }
  let open: StartedSandbox
  let closed: StartedSandbox

  beforeAll(async () => {
    folder = await tempDir()
    const options = { taskDirectory: folder.path }
    ;[open, closed] = await Promise.all([
      run.start(file, options),
      run.start({ ...file, network: { allow: ALLOW } }, options),
    ])
    await listen(closed.services.get('db'), 5432, 'data')
    await listen(closed.services.get('mail'), 25, 'letter')
  })
  afterAll(() => Promise.all([open?.remove(), closed?.remove(), folder?.[Symbol.asyncDispose]()]))

  it.each([...WAYS_OUT, ['IPv6', ['tcp6', 'fd00:99::10', '80'], 'outside fd00:99::10'] as const])(
    '%s does not get out, of any service',
    async (_, words, result) => {
      for (const name of ['web', 'helper', 'mail']) {
        expect(await probe(open.services.get(name), ...words)).toContain(result)
        expect(await probe(closed.services.get(name), ...words)).toMatch(REFUSED)
      }
      expect(await probe(closed.services.get('db'), ...words)).toMatch(REFUSED)
    },
  )

  it('cannot reach the host at any of its addresses', async () => {
    const address = await gatewayOf(open.services.get('mail'))
    expect(await probe(open.services.get('mail'), 'tcp', address, '8080')).toContain(`outside ${address}`)
    const answers = (await hostAddresses()).map((one) => probe(closed.default, 'tcp', one, '8080'))
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(REFUSED)
  })

  it('reach each other by name, and allowed hosts where their network has a way out', async () => {
    await expect.poll(() => probe(closed.default, 'tcp', 'db', '5432'), { timeout: 10_000 }).toBe('data')
    for (const name of ['web', 'helper', 'mail']) {
      const answer = await probe(closed.services.get(name), 'tcp', 'allowed.example', '80')
      expect(answer).toContain('outside 203.0.113.10')
    }
    const db = closed.services.get('db')
    expect(await probe(db, 'name', 'allowed.example')).toBe('no such name')
    expect(await probe(db, 'name', 'belljar-egress')).toBe('no such name')
    expect((await db?.exec(['sh', '-c', 'env | grep -ci proxy']))?.stdout).toBe('0\n')
  })

  it('keep their host names, copies a network namespace each, and no network at all where they have none', async () => {
    expect([...closed.services.keys()].sort()).toEqual(['db', 'helper', 'lone', 'mail', 'web'])
    expect((await closed.default.exec(['hostname'])).stdout).toBe('the-web\n')
    const { stdout } = (await closed.services.get('lone')?.exec(['cat', '/proc/net/dev'])) ?? { stdout: '' }
    expect(stdout.match(/^ *\w+:/gm)).toEqual([expect.stringContaining('lo:')])
    const containers = await run.provider.engine.control.listContainers({
      filters: { label: ['com.docker.compose.service=mail'] },
    })
    const inspected = await Promise.all(
      containers.map(({ Id }) => run.provider.engine.control.getContainer(Id).inspect()),
    )
    const modes = inspected.map(({ HostConfig }) => HostConfig.NetworkMode ?? '')
    expect(new Set(modes.filter((mode) => mode.startsWith('container:'))).size).toBe(2)
  })

  it('are closed still when one has restarted', async () => {
    const { engine } = run.provider
    const filters = { label: ['com.docker.compose.service=mail'] }
    let restarted = 0
    for (const { Id, Names } of await engine.control.listContainers({ filters })) {
      const container = engine.control.getContainer(Id)
      const { HostConfig } = await container.inspect()
      if (!HostConfig.NetworkMode?.startsWith('container:')) continue
      await container.restart({ t: 0 })
      restarted += 1
      const ref = new ContainerRef(engine, { id: Id, name: Names[0] ?? '', service: 'mail' })
      const command = await probeCommand('bound', '172.17.0.1')
      expect((await helperExec(ref, command, { deadlineMs: 20_000 })).output).toContain('refused')
    }
    expect(restarted).toBe(2)
  })
})
