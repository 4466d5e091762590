import { join } from 'node:path'
import { readLog, type SampleRecord } from 'belljar'
import { Cli, type CliEvent } from './cli.ts'
import type { Fault } from './docker-faults.ts'
import { DockerProxy, type FaultChoice } from './docker-proxy.ts'
import { until } from './reaper.ts'

/** What the run is doing when it is told to stop. Its sample `first` has ended by then, and `third` works for ever. */
export interface Moment {
  /** Fields of the sample `second`, as code (default: a sandbox of an image, in which its agent works for ever). */
  readonly second?: string
  /** Of its agent; `never`: the agent does nothing for ever, and heeds no signal. */
  readonly command?: string
  readonly args?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  /** Such a call of the Engine, `METHOD /path`, and what becomes of it. */
  readonly call?: {
    readonly of: RegExp
    readonly fault: Fault
    /** Also before `second` has a container. */
    readonly isEarly?: boolean
    /** Not the first one alone. */
    readonly isLasting?: boolean
  }
  /** An event that tells of it, in place of a call. */
  readonly event?: (event: CliEvent) => boolean
}

const TASK = `import { command, defineTask, docker } from 'belljar'
const dataset = [{ id: 'first', input: '' }, { id: 'third', input: '' }, { id: 'second', input: '', SECOND }]
const commands = { first: 'touch /first', second: COMMAND, third: 'sleep 300' }
const agent = async ({ sample, sandbox }) => {
  if (commands[sample.id] === 'never') await new Promise(() => undefined)
  await sandbox.exec(['sh', '-c', commands[sample.id]])
}
const scorers = [command(['sh', '-c', 'test -e /first || sleep 300'])]
export default defineTask({ name: 'cut', dataset, agent, scorers, sandbox: docker({ image: 'busybox:latest' }) })
`
const CREATE_SECOND = /^POST \/containers\/create\?.*name=bj-cut-second/

function choice({ call }: Moment, isHealed: () => boolean): FaultChoice {
  let begun = call?.isEarly ?? false
  let met = false
  return ({ method, path }) => {
    const said = `${method} ${path}`
    const hits = begun && (!met || call?.isLasting) && !isHealed() && call?.of.test(said)
    begun ||= CREATE_SECOND.test(said)
    met ||= hits === true
    return hits ? call?.fault : undefined
  }
}

export interface Interrupted {
  readonly run: string
  readonly exitCode: number | null
  readonly stderr: string
  readonly events: readonly CliEvent[]
  /** From the first signal to the end of the process. */
  readonly tookMs: number
  /** Of the samples that are in the log. */
  readonly records: readonly SampleRecord[]
}

export interface Running extends AsyncDisposable {
  readonly cli: Cli
  readonly proxy: DockerProxy
  readonly run: string
  /** No call goes wrong any more, and those that hang break. */
  readonly heal: () => Promise<void>
}

/** A run at that moment, before it is told to stop. */
export async function runUntil(moment: Moment): Promise<Running> {
  const { second = '', command = 'sleep 300', args = [], files = {}, call, event } = moment
  let healed = false
  const proxy = await DockerProxy.start(choice(moment, () => healed))
  const task = TASK.replace('SECOND', second).replace('COMMAND', JSON.stringify(command))
  const argv = ['run', 'task.ts', '--json', '--max-samples', '2', ...args]
  const cli = await Cli.start(argv, { 'task.ts': task, ...files }, { DOCKER_HOST: proxy.host })
  const run = await cli.runId()
  await cli.event((one) => one.type === 'sample-end' && one.record.id === 'first')
  if (event) await cli.event(event)
  else if (call) await until(() => proxy.hits.length > 0)
  return {
    cli,
    proxy,
    run,
    heal: async () => {
      healed = true
      await proxy.shut()
      await proxy.open()
    },
    [Symbol.asyncDispose]: async () => {
      await cli[Symbol.asyncDispose]()
      await proxy[Symbol.asyncDispose]()
    },
  }
}

/** Stops a run at that moment, and tells how it ended. */
export async function interrupted(moment: Moment, signal: NodeJS.Signals): Promise<Interrupted> {
  await using running = await runUntil(moment)
  const { cli, run } = running
  const fromMs = performance.now()
  cli.kill(signal)
  const { exitCode, stderr, events } = await cli.end()
  const tookMs = performance.now() - fromMs
  return { run, exitCode, stderr, events, tookMs, records: await loggedSamples(cli, events) }
}

async function loggedSamples({ directory }: Cli, events: readonly CliEvent[]): Promise<SampleRecord[]> {
  const start = events.find(({ type }) => type === 'eval-start')
  const records: SampleRecord[] = []
  if (start?.type !== 'eval-start') return records
  for await (const record of readLog(join(directory, start.log)))
    if (record.type === 'sample') records.push(record)
  return records
}
