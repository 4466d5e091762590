import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Docker from 'dockerode'
import type { SampleRecord } from '../../src/log/records/records.ts'
import { Cli, type CliEvent } from '../../test/support/cli.ts'
import { DockerProxy } from '../../test/support/docker-proxy.ts'
import { reapersOf } from '../../test/support/reaper.ts'
import { dice } from './dice.ts'
import type { Engine } from './engine.ts'
import { Harm } from './harm.ts'
import { judge, readMarks, startedTwice, type Verdict } from './judge.ts'
import { Storm } from './storm.ts'
import { taskFiles } from './task.ts'

export interface BattleOptions {
  readonly engine: Engine
  readonly seed: number
  readonly samples: number
  readonly tell: (message: string) => void
}

export interface Battle {
  readonly right: number
  readonly wrong: number
  readonly givenUp: number
  readonly hung: number
  readonly leaked: number
  readonly startedTwice: number
  readonly runs: number
  readonly faults: ReadonlyMap<string, number>
}

/** So many processes are killed, each some seconds after it has begun; the next run begins anew with what has not ended. */
const KILLS = 5
const LIFE_MS = { least: 8000, more: 22_000 }
/** Exit code of a run that found no engine that answers, and so began nothing. */
const REFUSED = 2
/** A run that takes longer hangs. */
const RUN_MS = 900_000
/** As long as a reaper waits for creates that may yet take effect, and twice that for the rest. */
const LEAK_MS = 90_000

/** Sends one storm over the samples until each has ended. */
export async function battle(options: BattleOptions): Promise<Battle> {
  const { engine, seed, samples, tell } = options
  const storm = new Storm(seed)
  const roll = dice(seed, 'runs')
  const verdicts = new Map<number, Verdict>()
  let [twice, hung, runs] = [0, 0, 0]
  {
    await using proxy = await DockerProxy.start(storm.choose, engine.socket)
    await using _harm = new Harm(engine, storm, seed)
    while (verdicts.size < samples && hung === 0) {
      const ids = Array.from({ length: samples }, (_, id) => id).filter((id) => !verdicts.has(id))
      const isKilled = runs < KILLS
      const killMs = isKilled ? LIFE_MS.least + roll() * LIFE_MS.more : undefined
      const round = { host: proxy.host, ids, number: runs, killMs, isReaperKilled: roll() < 0.5 }
      const ended = await fight(round, storm, tell)
      if (ended.isRefused) continue
      runs += 1
      twice += ended.startedTwice
      for (const [id, verdict] of ended.verdicts) {
        verdicts.set(id, verdict)
        if (verdict.kind !== 'right') tell(`sample ${id} ${verdict.kind}: ${verdict.why}`)
      }
      if (!isKilled) hung = samples - verdicts.size
    }
  }
  const count = (kind: Verdict['kind']) => [...verdicts.values()].filter((one) => one.kind === kind).length
  return {
    right: count('right'),
    wrong: count('wrong'),
    givenUp: count('given up'),
    hung,
    leaked: await leaked(engine, tell),
    startedTwice: twice,
    runs,
    faults: storm.counts,
  }
}

interface Round {
  readonly host: string
  readonly ids: readonly number[]
  readonly number: number
  /** undefined: it lives until it ends. */
  readonly killMs: number | undefined
  readonly isReaperKilled: boolean
}

/** One belljar process, from its start until it has ended or is killed. */
async function fight(
  { host, ids, number, killMs = RUN_MS, isReaperKilled }: Round,
  storm: Storm,
  tell: (message: string) => void,
): Promise<{ verdicts: Map<number, Verdict>; startedTwice: number; isRefused: boolean }> {
  const args = ['run', 'task.ts', '--json', '--retry-infra', '20', '--fail-on-error', 'never']
  const transport = number % 2 === 0 ? ['--no-guest'] : []
  await using cli = await Cli.start([...args, '--max-sandboxes', '16', ...transport], taskFiles(ids), {
    DOCKER_HOST: host,
  })
  const ending = cli.end()
  const over = new AbortController()
  const late = sleep(killMs, 'late' as const, { signal: over.signal }).catch(() => 'late' as const)
  if ((await Promise.race([ending, late])) === 'late') {
    if (isReaperKilled) for (const reaper of reapersOf(cli.pid)) process.kill(reaper, 'SIGKILL')
    cli.kill('SIGKILL')
    storm.met(isReaperKilled ? 'belljar and its reaper killed with SIGKILL' : 'belljar killed with SIGKILL')
  }
  over.abort()
  const { events, stderr, exitCode } = await ending
  const marks = await readMarks(join(cli.directory, 'marks'))
  const records = events.flatMap(recordOf)
  tell(`run ${number + 1}: ${records.length} of ${ids.length} ended, exit code ${exitCode}`)
  if (exitCode !== null && exitCode !== 0) tell(stderr.split('\n').slice(-15).join('\n'))
  const verdicts = new Map(records.map((record) => [Number(record.id), judge(record)]))
  return { verdicts, startedTwice: startedTwice(marks), isRefused: exitCode === REFUSED }
}

function recordOf(event: CliEvent): SampleRecord[] {
  return event.type === 'sample-end' ? [event.record] : []
}

/** What is on the engine when whoever removes has had its time: nothing else was ever made there. */
async function leaked(engine: Engine, tell: (message: string) => void): Promise<number> {
  const docker = new Docker({ socketPath: engine.socket })
  const end = performance.now() + LEAK_MS
  for (;;) {
    const left = await everything(docker)
    if (left.length === 0) return 0
    if (performance.now() >= end) {
      tell(`left on the engine: ${left.join(', ')}`)
      return left.length
    }
    await sleep(1000)
  }
}

async function everything(docker: Docker): Promise<string[]> {
  const [containers, networks, { Volumes }] = await Promise.all([
    docker.listContainers({ all: true }),
    docker.listNetworks({ filters: { type: ['custom'] } }),
    docker.listVolumes(),
  ])
  return [
    ...containers.map(({ Names, State }) => `container ${Names[0]} (${State})`),
    ...networks.map(({ Name }) => `network ${Name}`),
    ...(Volumes ?? []).map(({ Name }) => `volume ${Name}`),
  ]
}
