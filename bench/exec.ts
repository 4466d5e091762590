import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import Docker from 'dockerode'
import { DockerProvider } from '../src/sandbox/docker/docker-provider.ts'
import type { Sandbox } from '../src/sandbox/sandbox.ts'
import { attachedOutput, BareContainer } from './lib/bare.ts'
import { quantile, timed } from './lib/timing.ts'
import { type BenchRow, median, withFloor } from './table.ts'

const IMAGE = 'busybox:latest'
const MIB = 1024 * 1024
const LARGE = 100 * MIB
const ROUNDS = 3
const MEGABYTE_OUTPUT = ['head', '-c', String(MIB), '/dev/zero']
const runFile = promisify(execFile)

type Exec = (command: string[]) => Promise<unknown>

/** One way to run commands: in one sandbox, and in each of sixteen. */
interface Way {
  readonly name: string
  readonly one: Exec
  readonly sixteen: readonly Exec[]
}

interface Case {
  readonly name: string
  readonly repeats: number
  readonly times: (way: Way) => Promise<number[]>
}

const CASES: readonly Case[] = [
  { name: 'true', repeats: 20, times: async ({ one }) => [await timed(() => one(['true']))] },
  {
    name: '1 MiB of output',
    repeats: 8,
    times: async ({ one }) => [await timed(() => one(MEGABYTE_OUTPUT))],
  },
  {
    name: '8 at once in one sandbox',
    repeats: 3,
    times: ({ one }) => Promise.all(Array.from({ length: 8 }, () => timed(() => one(['true'])))),
  },
  {
    name: '1 in each of 16 sandboxes',
    repeats: 2,
    times: ({ sixteen }) => Promise.all(sixteen.map((exec) => timed(() => exec(['true'])))),
  },
]

/** Every way in turns, so that a noisy machine hits all of them. */
async function commandRows(ways: readonly Way[], floor: string): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const { name, repeats, times } of CASES) {
    const seen = new Map<string, number[]>(ways.map((way) => [way.name, []]))
    for (const way of ways) await times(way)
    for (let round = 0; round < ROUNDS * repeats; round += 1)
      for (const way of ways)
        if (way.name !== 'docker command line' || round % 4 === 0)
          seen.get(way.name)?.push(...(await times(way)))
    const of = (way: string, part: number) => quantile(seen.get(way) ?? [], part)
    for (const way of ways.filter((each) => each.name !== floor))
      for (const [metric, part] of [
        ['p50', 0.5],
        ['p99', 0.99],
      ] as const)
        rows.push(
          withFloor(
            {
              bench: 'exec',
              case: name,
              metric: `${way.name}, ${metric}`,
              value: of(way.name, part),
              unit: 'ms',
            },
            of(floor, part),
          ),
        )
  }
  return rows
}

interface Transfer {
  readonly name: string
  readonly belljar: () => Promise<number>
  readonly floor: () => Promise<number>
}

async function transferRows(
  transfers: readonly Transfer[],
  unit: { name: string; rounds: number; of: (ms: number) => number },
): Promise<BenchRow[]> {
  const rows: BenchRow[] = []
  for (const { name, belljar, floor } of transfers) {
    const [values, floors]: [number[], number[]] = [[], []]
    for (let round = 0; round < unit.rounds; round += 1) {
      floors.push(await floor())
      values.push(await belljar())
    }
    const row = {
      bench: 'exec',
      case: name,
      metric: 'guest, median',
      value: unit.of(median(values)),
      unit: unit.name,
    }
    rows.push(withFloor(row, unit.of(median(floors))))
  }
  return rows
}

async function fileRows(
  sandbox: Sandbox,
  bare: BareContainer,
  docker: Docker,
  runId: string,
): Promise<BenchRow[]> {
  const [large, small] = [Buffer.alloc(LARGE, 'belljar\n'), Buffer.alloc(1024, 'x')]
  const output = ['head', '-c', String(LARGE), '/dev/zero']
  const read = (path: string) => timed(() => sandbox.readFile(path))
  const whole = await transferRows(
    [
      {
        name: 'output of 100 MiB (floor: attach)',
        belljar: () => timed(() => sandbox.exec(output, { maxOutputBytes: LARGE })),
        floor: () => attachedOutput(docker, { image: IMAGE, run: runId, bytes: LARGE }),
      },
      {
        name: 'writeFile of 100 MiB (floor: archive)',
        belljar: () => timed(() => sandbox.writeFile('/large', large)),
        floor: () => timed(() => bare.writeFile('large', large)),
      },
      {
        name: 'readFile of 100 MiB (floor: archive)',
        belljar: () => read('/large'),
        floor: () => timed(() => bare.readFile('/large')),
      },
    ],
    { name: 'MiB/s', rounds: 5, of: (ms) => 100 / (ms / 1000) },
  )
  const little = await transferRows(
    [
      {
        name: 'writeFile of 1 KiB (floor: archive)',
        belljar: () => timed(() => sandbox.writeFile('/small', small)),
        floor: () => timed(() => bare.writeFile('small', small)),
      },
      {
        name: 'readFile of 1 KiB (floor: archive)',
        belljar: () => read('/small'),
        floor: () => timed(() => bare.readFile('/small')),
      },
    ],
    { name: 'ms', rounds: 40, of: (ms) => ms },
  )
  return [...whole, ...little]
}

const nameOf = (sandbox: Sandbox) => / exec -it (\S+) /.exec(sandbox.shellCommand())?.[1] ?? ''

/** Sixteen sandboxes of one transport. */
async function sandboxes(transport: 'guest' | 'engine', runId: string) {
  const provider = await DockerProvider.connect({ transport })
  const config = await provider.resolve({ kind: 'docker', config: { image: IMAGE } }, { taskDirectory: '/' })
  await provider.taskInit(config, {})
  const identity = (sample: number) => ({
    run: runId,
    eval: transport,
    task: 'exec',
    sample: `${sample}`,
    epoch: 1,
    attempt: 1,
  })
  const started = []
  for (let sample = 0; sample < 16; sample += 1)
    started.push((await provider.sampleInit(config, identity(sample), {})).default)
  return { provider, started }
}

/** Commands and files over the guest beside the engine transport, the docker command line and the bare Engine API. */
export async function run(): Promise<BenchRow[]> {
  const runId = `bench-${randomBytes(4).toString('hex')}`
  const docker = new Docker()
  const guest = await sandboxes('guest', runId)
  const engine = await sandboxes('engine', runId)
  const bare: BareContainer[] = []
  try {
    for (let count = 0; count < 16; count += 1)
      bare.push(await BareContainer.start(docker, { image: IMAGE, run: runId }))
    const [first, firstBare] = [guest.started[0], bare[0]]
    if (!first || !firstBare) throw new Error('no sandbox was started')
    const options = { maxOutputBytes: 2 * MIB }
    const of = (name: string, execs: readonly Exec[]): Way => ({
      name,
      one: (command) => execs[0]?.(command) ?? Promise.reject(),
      sixteen: execs,
    })
    const ways = [
      of(
        'guest',
        guest.started.map((sandbox) => (command) => sandbox.exec(command, options)),
      ),
      of(
        'engine transport',
        engine.started.map((sandbox) => (command) => sandbox.exec(command, options)),
      ),
      of(
        'docker command line',
        guest.started.map(
          (sandbox) => (command) =>
            runFile('docker', ['exec', nameOf(sandbox), ...command], { maxBuffer: 4 * MIB }),
        ),
      ),
      of(
        'bare exec',
        bare.map((container) => (command) => container.exec(command)),
      ),
    ]
    return [...(await commandRows(ways, 'bare exec')), ...(await fileRows(first, firstBare, docker, runId))]
  } finally {
    await Promise.all(bare.map((container) => container[Symbol.asyncDispose]()))
    await engine.provider.close()
    await guest.provider.remove({ run: runId })
    await guest.provider.close()
  }
}
