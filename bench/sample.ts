import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import { evaluate } from '../src/run/evaluate.ts'
import { docker as dockerSandbox } from '../src/sample/sandbox-spec.ts'
import { DockerProvider } from '../src/sandbox/docker/docker-provider.ts'
import type { Sandbox } from '../src/sandbox/sandbox.ts'
import { defineTask } from '../src/task/task.ts'
import { BareContainer } from './lib/bare.ts'
import { pooled, timed } from './lib/timing.ts'
import { type BenchRow, median, withFloor } from './table.ts'

const IMAGE = 'busybox:latest'
const SAMPLES = 64
const AT_ONCE = 8
const ROUNDS = 2

async function work(sandbox: Sandbox | undefined): Promise<void> {
  if (!sandbox) throw new Error('the sample has no sandbox')
  for (let count = 0; count < 3; count += 1) await sandbox.exec(['true'])
  await sandbox.writeFile('/out', '12345')
  await sandbox.readFile('/out')
}

async function belljar(logDir: string, transport: 'guest' | 'engine'): Promise<void> {
  const task = defineTask({
    name: 'bench-sample',
    dataset: Array.from({ length: SAMPLES }, (_, index) => ({ id: `${index}`, input: 'work' })),
    sandbox: dockerSandbox({ image: IMAGE }),
    agent: async ({ sandbox }) => work(sandbox),
    maxSamples: AT_ONCE,
  })
  const { evals } = await evaluate(task, {
    logDir,
    maxSandboxes: AT_ONCE,
    providers: { docker: () => DockerProvider.connect({ transport }) },
  })
  if (evals[0]?.footer.totals.success !== SAMPLES) throw new Error('not all samples succeeded')
}

async function bareSample(docker: Docker, run: string): Promise<void> {
  await using bare = await BareContainer.start(docker, { image: IMAGE, run })
  for (let count = 0; count < 3; count += 1) await bare.exec(['true'])
  await bare.writeFile('out', Buffer.from('12345'))
  await bare.readFile('/out')
}

/** Whole samples through evaluate(), log on, beside the bare Engine API doing the same. */
export async function run(): Promise<BenchRow[]> {
  const runId = `bench-${randomBytes(4).toString('hex')}`
  const logDir = await mkdtemp(join(tmpdir(), 'belljar-bench-'))
  const docker = new Docker()
  const ways = {
    guest: () => belljar(logDir, 'guest'),
    'engine transport': () => belljar(logDir, 'engine'),
    bare: () => pooled(SAMPLES, AT_ONCE, () => bareSample(docker, runId)),
  }
  const times: Record<string, number[]> = { guest: [], 'engine transport': [], bare: [] }
  try {
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [name, way] of Object.entries(ways)) times[name]?.push(await timed(way))
  } finally {
    await rm(logDir, { recursive: true, force: true })
  }
  const perSample = (name: string) => median(times[name] ?? []) / SAMPLES
  return ['guest', 'engine transport'].map((name) =>
    withFloor(
      {
        bench: 'sample',
        case: `${SAMPLES} samples, ${AT_ONCE} at once`,
        metric: `${name}, time per sample`,
        value: perSample(name),
        unit: 'ms',
      },
      perSample('bare'),
    ),
  )
}
