import { randomBytes } from 'node:crypto'
import Docker from 'dockerode'
import { DockerProvider } from '../src/sandbox/docker/docker-provider.ts'
import type { ResolvedConfig } from '../src/sandbox/provider.ts'
import { type BenchRow, median, withFloor } from './table.ts'

const IMAGE = 'busybox:latest'
const SANDBOXES = 24

interface Life {
  /** From the first call until the first command has ended. */
  readonly startMs: number
  readonly removeMs: number
}

/** What cannot be left out: create, start, one exec with its exit code, remove. */
async function bareLife(docker: Docker, name: string): Promise<Life> {
  const begin = performance.now()
  const container = await docker.createContainer({
    name,
    Image: IMAGE,
    Cmd: ['sh', '-c', 'while :; do sleep 86400; done'],
    Labels: { 'belljar.run': name },
    HostConfig: { NetworkMode: 'none', Init: true },
  })
  await container.start()
  const exec = await container.exec({ Cmd: ['true'], AttachStdout: true, AttachStderr: true })
  const stream = await exec.start({ hijack: true, stdin: false })
  await new Promise((resolve) => stream.on('end', resolve).resume())
  await exec.inspect()
  const ready = performance.now()
  await container.remove({ force: true, v: true })
  return { startMs: ready - begin, removeMs: performance.now() - ready }
}

async function belljarLife(provider: DockerProvider, config: ResolvedConfig, run: string): Promise<Life> {
  const sample = randomBytes(4).toString('hex')
  const identity = { run, eval: 'bench', task: 'start', sample, epoch: 1, attempt: 1 }
  const begin = performance.now()
  const sandbox = await provider.sampleInit(config, identity, {})
  await sandbox.default.exec(['true'])
  const ready = performance.now()
  await sandbox.remove()
  return { startMs: ready - begin, removeMs: performance.now() - ready }
}

/** Runs `count` lives, `concurrency` at a time. */
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

/** Sandbox start to first exec, and teardown, beside the floor; both in turns, so that a noisy machine hits both. */
export async function run(): Promise<BenchRow[]> {
  const runId = `bench-${randomBytes(4).toString('hex')}`
  const provider = await DockerProvider.connect()
  const docker = new Docker()
  const rows: BenchRow[] = []
  try {
    const config = await provider.resolve(
      { kind: 'docker', config: { image: IMAGE } },
      { taskDirectory: '/' },
    )
    await provider.taskInit(config, {})
    const bare = () => bareLife(docker, `${runId}-${randomBytes(4).toString('hex')}`)
    const belljar = () => belljarLife(provider, config, runId)
    await bare()
    await belljar()
    for (const concurrency of [1, 8]) {
      const [floors, values]: [Life[], Life[]] = [[], []]
      for (let round = 0; round < 3; round += 1) {
        floors.push(...(await lives(concurrency, SANDBOXES / 3, bare)))
        values.push(...(await lives(concurrency, SANDBOXES / 3, belljar)))
      }
      for (const [metric, field] of [
        ['start to first exec, median', 'startMs'],
        ['teardown, median', 'removeMs'],
      ] as const) {
        const value = median(values.map((life) => life[field]))
        const row = { bench: 'start', case: `${concurrency} at once`, metric, value, unit: 'ms' }
        rows.push(withFloor(row, median(floors.map((life) => life[field]))))
      }
    }
  } finally {
    await provider.remove({ run: runId })
    await provider.close()
  }
  return rows
}
