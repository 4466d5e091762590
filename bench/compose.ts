import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Docker from 'dockerode'
import { DockerProvider } from '../src/sandbox/docker/docker-provider.ts'
import { createNetwork } from '../src/sandbox/docker/network/create-network.ts'
import { SubnetPool } from '../src/sandbox/docker/network/subnet-pool.ts'
import type { ResolvedConfig, StartedSandbox } from '../src/sandbox/provider.ts'
import { type BenchRow, median, withFloor } from './table.ts'

/** How often each case is run, at least. */
const LIVES = 8
const ROUNDS = 2
/** `BENCH_MANY=200`: so many sandboxes of two services and two networks up at once, of two runs that share the engine, and nothing else. */
const MANY = Number(process.env.BENCH_MANY ?? 0)

const call = promisify(execFile)
const id = () => randomBytes(4).toString('hex')

interface Life {
  readonly startMs: number
  readonly removeMs: number
}

interface Case {
  readonly folder: string
  readonly config: ResolvedConfig
  readonly provider: DockerProvider
  readonly runId: string
}

function service(name: string, after: string | undefined): string {
  const dependsOn = after === undefined ? '' : `, depends_on: { ${after}: { condition: service_healthy } }`
  const healthcheck =
    '{ test: [CMD, test, -f, /ok], interval: 30s, retries: 100, start_period: 60s, start_interval: 100ms }'
  return `  ${name}: { image: "busybox:latest", init: true, command: [sh, -c, "touch /ok; sleep 600"], healthcheck: ${healthcheck}${dependsOn} }`
}

/** A chain: each service waits until the one before it is healthy. */
function chain(services: number): string {
  const names = Array.from({ length: services }, (_, index) =>
    index === services - 1 ? 'default' : `s${index}`,
  )
  return ['services:', ...names.map((name, index) => service(name, names[index - 1]))].join('\n')
}

const TWO_NETWORKS = `
services:
  default: { image: "busybox:latest", command: sleep 3600, init: true, networks: [front, back] }
  db: { image: "busybox:latest", command: sleep 3600, init: true, networks: [back] }
networks: { front: , back: { internal: true } }
`

async function composeLife({ folder }: Case): Promise<Life> {
  const compose = ['compose', '-p', `bench-${id()}`, '-f', join(folder, 'compose.yaml')]
  const begin = performance.now()
  await call('docker', [...compose, 'up', '-d', '--wait', '--quiet-pull'])
  const ready = performance.now()
  await call('docker', [...compose, 'down', '-v', '-t', '0'])
  return { startMs: ready - begin, removeMs: performance.now() - ready }
}

function started({ provider, config, runId }: Case): Promise<StartedSandbox> {
  const identity = { run: runId, eval: 'bench', task: 'compose', sample: id(), epoch: 1, attempt: 1 }
  return provider.sampleInit(config, identity, {})
}

async function belljarLife(one: Case): Promise<Life> {
  const begin = performance.now()
  const sandbox = await started(one)
  const ready = performance.now()
  await sandbox.remove()
  return { startMs: ready - begin, removeMs: performance.now() - ready }
}

async function lives(concurrency: number, count: number, live: () => Promise<Life>): Promise<Life[]> {
  const results: Life[] = []
  let begun = 0
  const worker = async () => {
    while (begun < count) {
      begun += 1
      results.push(await live())
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return results
}

async function open(compose: string, provider: DockerProvider, runId: string): Promise<Case> {
  const folder = await mkdtemp(join(tmpdir(), 'belljar-bench-'))
  await writeFile(join(folder, 'compose.yaml'), compose)
  const spec = { kind: 'docker', config: { compose: 'compose.yaml' } }
  const config = await provider.resolve(spec, { taskDirectory: folder })
  await provider.taskInit(config, {})
  return { folder, config, provider, runId }
}

/** Both in turns, so that a noisy machine hits both. */
async function compare(services: number, concurrency: number, one: Case): Promise<BenchRow[]> {
  const [floors, values]: [Life[], Life[]] = [[], []]
  const count = Math.max(LIVES / ROUNDS, concurrency)
  for (let round = 0; round < ROUNDS; round += 1) {
    floors.push(...(await lives(concurrency, count, () => composeLife(one))))
    values.push(...(await lives(concurrency, count, () => belljarLife(one))))
    await one.provider.remove({ run: one.runId })
  }
  const name = `${services} service${services > 1 ? 's' : ''}, ${concurrency} at once`
  const figure = (metric: string, of: (life: Life) => number) =>
    withFloor(
      { bench: 'compose', case: name, metric, value: median(values.map(of)), unit: 'ms' },
      median(floors.map(of)),
    )
  return [
    figure('start to healthy, median (floor: compose up --wait)', ({ startMs }) => startMs),
    figure('teardown, median (floor: compose down -v)', ({ removeMs }) => removeMs),
  ]
}

/** What a network alone takes, which is part of every start with one. */
async function networkTime(provider: DockerProvider, runId: string): Promise<BenchRow[]> {
  const { engine } = provider
  const subnets = new SubnetPool(engine)
  const docker = new Docker()
  const make: number[] = []
  const remove: number[] = []
  for (let round = 0; round < LIVES; round += 1) {
    const name = `${runId}-${id()}`
    const plan = { name: 'bench', internal: false }
    const begin = performance.now()
    await createNetwork(plan, { engine, subnets, name, labels: { 'belljar.run': runId }, containers: 2 })
    const made = performance.now()
    await docker.getNetwork(name).remove()
    make.push(made - begin)
    remove.push(performance.now() - made)
  }
  const row = { bench: 'compose', case: 'a network alone', unit: 'ms' }
  return [
    { ...row, metric: 'made, median', value: median(make) },
    { ...row, metric: 'removed, median', value: median(remove) },
  ]
}

/** Half of the many, in a run of its own. */
async function startHalf(one: Case): Promise<StartedSandbox[]> {
  const sandboxes: StartedSandbox[] = []
  await lives(8, MANY / 2, async () => {
    sandboxes.push(await started(one))
    return { startMs: 0, removeMs: 0 }
  })
  return sandboxes
}

/** Starts, uses and removes many at once. The runs know nothing of each other. */
async function many(provider: DockerProvider, runId: string): Promise<BenchRow[]> {
  const second = await DockerProvider.connect()
  const one = await open(TWO_NETWORKS, provider, runId)
  const other = await open(TWO_NETWORKS, second, `${runId}-2`)
  const begin = performance.now()
  const sandboxes = (await Promise.all([one, other].map(startHalf))).flat()
  const up = performance.now()
  const answers = await Promise.all(sandboxes.map((sandbox) => sandbox.default.exec(['nslookup', 'db'])))
  const used = performance.now()
  const left = await Promise.all(sandboxes.map((sandbox) => sandbox.remove()))
  const gone = performance.now()
  await Promise.all([one, other].map((half) => half.provider.remove({ run: half.runId })))
  await second.close()
  const row = { bench: 'compose', case: `${MANY} sandboxes of 2 runs at once, 2 services, 2 networks` }
  for (const { folder } of [one, other]) await rm(folder, { recursive: true })
  return [
    { ...row, metric: 'up', value: sandboxes.length, unit: 'sandboxes' },
    {
      ...row,
      metric: 'answered by name',
      value: answers.filter(({ exitCode }) => exitCode === 0).length,
      unit: 'sandboxes',
    },
    {
      ...row,
      metric: 'left by removal',
      value: left.flatMap((report) => report.left).length,
      unit: 'objects',
    },
    { ...row, metric: 'all up after', value: (up - begin) / 1000, unit: 's' },
    { ...row, metric: 'all used after', value: (used - up) / 1000, unit: 's' },
    { ...row, metric: 'all containers gone after', value: (gone - used) / 1000, unit: 's' },
    { ...row, metric: 'all networks gone after', value: (performance.now() - gone) / 1000, unit: 's' },
  ]
}

export async function run(): Promise<BenchRow[]> {
  const runId = `bench-${id()}`
  const provider = await DockerProvider.connect()
  const rows: BenchRow[] = []
  try {
    if (MANY > 0) return await many(provider, runId)
    for (const services of [1, 2, 4]) {
      const one = await open(chain(services), provider, runId)
      for (const concurrency of [1, 8]) rows.push(...(await compare(services, concurrency, one)))
      await rm(one.folder, { recursive: true })
    }
    rows.push(...(await networkTime(provider, runId)))
    return rows
  } finally {
    await provider.remove({ run: runId })
    await provider.close()
  }
}
