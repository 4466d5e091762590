import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { hostRoutes } from '../../../src/sandbox/docker/network/host-routes.ts'
import { SubnetPool } from '../../../src/sandbox/docker/network/subnet-pool.ts'
import { overlaps, parseSubnet } from '../../../src/sandbox/subnets.ts'
import { ComposeRun, sh } from '../../support/compose.ts'
import { DockerRun } from '../../support/docker.ts'

const forever = 'sleep infinity'
const web = `sh -c "mkdir -p /www && hostname > /www/index.html && httpd -f -p 80 -h /www"`

async function networksOf({ run }: ComposeRun) {
  const label = [`belljar.run=${run.run}`]
  return run.provider.engine.control.listNetworks({ filters: { label } })
}

/** A server of the host on all its addresses. */
async function hostServer() {
  const server = createServer((socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  const { port } = server.address() as AddressInfo
  return { port, [Symbol.dispose]: () => void server.close() }
}

describe('networks of a sandbox', () => {
  it('lie in belljar`s own range, in small blocks that do not overlap', async () => {
    await using compose = await ComposeRun.open(
      `
services:
  main: { image: busybox, command: ${forever}, networks: [front, back] }
  db: { image: busybox, command: ${forever}, networks: [back] }
networks: { front: , back: { internal: true }, unused: }
`,
      {},
      { subnetRange: '10.213.0.0/20' },
    )
    const sandboxes = await Promise.all([compose.start(), compose.start(), compose.start()])
    const networks = await networksOf(compose)
    expect(networks).toHaveLength(6)
    const subnets = networks.map(({ IPAM }) => parseSubnet(IPAM?.Config?.[0]?.Subnet ?? '')!)
    const range = parseSubnet('10.213.0.0/20')!
    for (const [index, subnet] of subnets.entries()) {
      expect(subnet.prefixLength).toBe(28)
      expect(overlaps(range, subnet)).toBe(true)
      expect(subnets.slice(index + 1).some((other) => overlaps(subnet, other))).toBe(false)
    }
    for (const sandbox of sandboxes) expect(await sh(sandbox.default, 'nslookup db')).toContain('10.213.')
    await Promise.all(sandboxes.map((sandbox) => sandbox.remove()))
  })

  it('keep clear of the routes of the engine`s host, which are read there, wherever that is', async () => {
    await using compose = await ComposeRun.open(`services: { main: { image: busybox, command: ${forever} } }`)
    const { engine } = compose.run.provider
    await using _sandbox = await compose.start()
    const [network] = await networksOf(compose)
    const labels = { 'belljar.run': compose.run.run }
    expect(await hostRoutes(engine, labels)).toContain(network?.IPAM?.Config?.[0]?.Subnet)
    const routes = async () => ['10.213.64.0/21']
    const pool = new SubnetPool(engine, { range: '10.213.64.0/20', routes, random: () => 0 })
    expect(await pool.take(28)).toBe('10.213.72.0/28')
  })

  it('when the range is used up, an error says so and what to do', async () => {
    await using compose = await ComposeRun.open(
      `services: { main: { image: busybox, command: ${forever} } }`,
      {},
      { subnetRange: '10.214.0.0/28' },
    )
    await using _first = await compose.start()
    await expect(compose.start()).rejects.toThrow(
      /no block of \/28 is free in 10\.214\.0\.0\/28.*BELLJAR_SUBNET_RANGE/,
    )
  })

  it('from an internal one the host cannot be reached, and siblings can', async () => {
    using server = await hostServer()
    const services = `
services:
  main: { image: busybox, command: ${forever}, networks: [range] }
  target: { image: busybox, command: ${web}, hostname: target-1, networks: [range] }
networks:
  range: INTERNAL
`
    const gatewayAnswer = async (compose: ComposeRun, sandbox: Awaited<ReturnType<ComposeRun['start']>>) => {
      const [network] = await networksOf(compose)
      const subnet = network?.IPAM?.Config?.[0]?.Subnet ?? ''
      const gateway = subnet.replace(/\d+\/\d+$/, (tail) => String(Number.parseInt(tail, 10) + 1))
      return sh(sandbox.default, `nc -w 2 ${gateway} ${server.port} </dev/null && echo host || echo none`)
    }
    await using open = await ComposeRun.open(services.replace('INTERNAL', ''))
    await using internal = await ComposeRun.open(services.replace('INTERNAL', '{ internal: true }'))
    await using openSandbox = await open.start()
    expect(await gatewayAnswer(open, openSandbox)).toBe('host')
    await using internalSandbox = await internal.start()
    expect(await gatewayAnswer(internal, internalSandbox)).toBe('none')
    const address = `$(nslookup target 127.0.0.11 | awk '/^Address: /{print $2}')`
    // The wget of some busyboxes crashes where there is no default route.
    const page = await sh(internalSandbox.default, `printf 'GET / HTTP/1.0\r\n\r\n' | nc ${address} 80`)
    expect(page).toContain('target-1')
  })

  it('a service in the namespaces of another, and links', async () => {
    await using compose = await ComposeRun.open(`
services:
  main:
    image: busybox
    command: ${forever}
    network_mode: service:web
    pid: service:web
    ipc: service:web
  web: { image: busybox, command: ${web}, hostname: holder }
  client:
    image: busybox
    command: ${forever}
    links: ["web:server"]
`)
    await using sandbox = await compose.start()
    expect(await sh(sandbox.default, 'wget -q -O - http://127.0.0.1/')).toBe('holder')
    expect(await sh(sandbox.default, 'cat /proc/1/cmdline')).toContain('httpd')
    expect(await sh(sandbox.services.get('client'), 'wget -q -O - http://server/')).toBe('holder')
  })

  it('every alias answers in every copy, whichever start at once', async () => {
    await using compose = await ComposeRun.open(`
services:
  main: { image: busybox, command: ${forever}, networks: { a: { aliases: [first] }, b: { aliases: [second] } } }
  other: { image: busybox, command: ${forever}, networks: [a, b] }
networks: { a: , b: }
`)
    const copies = await Promise.all(Array.from({ length: 6 }, () => compose.start()))
    for (const copy of copies) {
      const other = copy.services.get('other')
      expect(await sh(other, 'nslookup first >/dev/null && nslookup second >/dev/null && echo both')).toBe(
        'both',
      )
    }
    await Promise.all(copies.map((copy) => copy.remove()))
  })
})

describe('copies side by side', () => {
  it('of a file with fixed names and ports: the names answer inside, and nothing is shared', async () => {
    await using compose = await ComposeRun.open(`
name: fixed
services:
  main:
    image: busybox
    command: ${web}
    container_name: the-web
    hostname: web-host
    ports: ["8088:80"]
    volumes: [data:/data]
    networks: [lan]
networks:
  lan: { name: the-lan, ipam: { config: [{ subnet: 10.250.0.0/24 }] } }
volumes:
  data: { name: the-data }
`)
    await using first = await compose.start()
    await using second = await compose.start()
    await sh(first.default, 'echo first > /data/whose')
    expect(await sh(second.default, 'ls /data')).toBe('')
    for (const copy of [first, second]) {
      expect(await sh(copy.default, 'wget -q -O - http://the-web/')).toBe('web-host')
    }
    const label = [`belljar.run=${compose.run.run}`]
    const containers = await compose.run.provider.engine.control.listContainers({ filters: { label } })
    const ports = containers.flatMap(({ Ports }) => Ports.map(({ IP, PublicPort }) => [IP, PublicPort]))
    expect(ports.map(([ip]) => ip)).toEqual(['127.0.0.1', '127.0.0.1'])
    expect(new Set(ports.map(([, port]) => port)).size).toBe(2)
    const warnings = compose.reports.map(({ message }) => message).join('\n')
    for (const key of [
      'container_name',
      'ports[0]',
      'networks.lan.name',
      'networks.lan.ipam',
      'volumes.data.name',
    ]) {
      expect(warnings).toContain(key)
    }
  })
})

describe('sandboxes of an image with internet', () => {
  it('have one network for the run, on which they cannot reach each other', async () => {
    await using run = await DockerRun.open()
    const start = () => run.start({ image: 'busybox:latest', network: 'internet' })
    await using first = await start()
    await using second = await start()
    const networks = await run.provider.engine.control.listNetworks({
      filters: { label: [`belljar.run=${run.run}`] },
    })
    expect(networks).toHaveLength(1)
    const address = await sh(second.default, "ip -4 addr show eth0 | awk '/inet/{print $2}' | cut -d/ -f1")
    const gateway = await sh(first.default, "ip route | awk '/default/{print $3}'")
    expect(await sh(first.default, `ping -c 1 -W 1 ${gateway} >/dev/null && echo yes || echo no`)).toBe('yes')
    expect(await sh(first.default, `ping -c 1 -W 1 ${address} >/dev/null && echo yes || echo no`)).toBe('no')
  })
})
