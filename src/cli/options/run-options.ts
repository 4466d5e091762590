import { type Command, Option } from 'commander'
import type { FsyncPolicy } from '../../log/journal/journal.ts'
import type { FailOnError } from '../../run/error-policy.ts'
import type { EvaluateOptions } from '../../run/options.ts'
import type { ServiceLogs } from '../../run/sample/service-logs.ts'
import { parseSandboxSpec } from '../../sample/sandbox-spec.ts'
import type { Keep } from '../../sandbox/provider.ts'
import { failOnError, positiveInteger, sampleLimit, taskArgument, wholeNumber } from '../arguments.ts'
import { addLimitOptions, type LimitFlags, limitOptions } from './limit-options.ts'
import { addModelOptions, type ModelFlags, modelOptions } from './model-options.ts'

/** What is shown, and how. */
export interface ShownFlags {
  readonly logLevel: string
  readonly json?: boolean
}

/** What commands take that run tasks, as commander hands it over. */
export interface RunFlags extends ModelFlags, LimitFlags, ShownFlags {
  readonly T?: Record<string, unknown>
  readonly agent?: string
  readonly fsync?: FsyncPolicy
  readonly sandbox?: string
  readonly epochs?: number
  readonly maxSamples?: number
  readonly maxSandboxes?: number
  readonly maxStarts?: number
  readonly maxTasks?: number
  readonly limit?: number | readonly [number, number]
  readonly sampleId?: string[]
  /** false with `--no-build`. */
  readonly build?: boolean
  readonly removeImages?: boolean
  readonly serviceLogs: ServiceLogs
  readonly keepArtifacts: ServiceLogs
  /** false with `--no-reaper`. */
  readonly reaper?: boolean
  /** false with `--no-guest`. */
  readonly guest?: boolean
  readonly failOnError?: FailOnError
  readonly continueOnFail?: boolean
  readonly retryOnError?: number
  readonly retryInfra?: number
  readonly scoreOnError?: boolean
  readonly keep: Keep
  readonly logDir: string
  readonly secret?: string[]
}

const FSYNC: readonly FsyncPolicy[] = ['never', 'records', 'always']

const KEEP: readonly Keep[] = ['none', 'failed', 'all']

/** All that a command takes which runs tasks, but for the files and the folder of the logs. */
export function addRunOptions(command: Command): Command {
  command.option('-T <key=value>', 'argument of a parametrised task, may be repeated', taskArgument)
  addSampleOptions(addModelOptions(command))
  addSandboxOptions(command)
  addKeepOptions(command)
  command
    .addOption(
      new Option('--fsync <when>', 'when the log is forced to the disk').choices(FSYNC).default('records'),
    )
    .option(
      '--secret <names...>',
      'variables of the environment whose values no log, event or label may show',
    )
  return addShownOptions(command)
}

export function addShownOptions(command: Command): Command {
  return command
    .option('--log-level <level>', 'diagnostics on stderr: debug, info, warn, error, silent', 'warn')
    .option('--json', 'events on stdout, one object a line')
}

function addSampleOptions(command: Command): Command {
  command
    .option('--agent <name>', "instead of the tasks' own: oracle, nop, human")
    .option('--epochs <n>', 'how often each sample is run', positiveInteger)
    .option('--max-samples <n>', 'samples at once, per task', positiveInteger)
    .option('--max-tasks <n>', 'tasks at once (default: 10)', positiveInteger)
    .option('--limit <n>', 'so many samples of each task, or those at positions a,b', sampleLimit)
    .option('--sample-id <patterns...>', 'samples whose id, or task:id, matches a pattern with * and ?')
  return addLimitOptions(command)
    .option('--fail-on-error <v>', 'errors that fail the eval: any, never, a share or a count', failOnError)
    .option('--continue-on-fail', 'errors fail the eval at its end only')
    .option('--retry-on-error <n>', 'further attempts at a sample after an error', wholeNumber)
    .option('--retry-infra <n>', 'further attempts at a sample after a sandbox failed', wholeNumber)
    .option('--score-on-error', 'score what an agent left that ended with an error')
}

function addSandboxOptions(command: Command): Command {
  return command
    .option('--sandbox <kind[:config]>', 'sandbox of every task, such as docker:compose.yaml')
    .option('--max-sandboxes <n>', 'sandboxes at once (default: twice the processors)', positiveInteger)
    .option(
      '--max-starts <n>',
      "sandboxes started at once (default: twice the engine's processors)",
      positiveInteger,
    )
    .option('--no-build', 'refuse to run where images would have to be built')
    .option('--remove-images', 'remove what was pulled or built for the run, each image after its last use')
    .option('--no-guest', "reach sandboxes through the Engine's own exec")
    .option('--no-reaper', 'start no process that removes what is left when this run is killed')
}

/** What outlives a run, of which samples. */
function addKeepOptions(command: Command): void {
  const which = (flag: string, what: string, value: string) =>
    command.addOption(new Option(`--${flag} <which>`, what).choices(KEEP).default(value))
  which('keep', 'sandboxes that are not removed', 'none')
  which('service-logs', 'samples whose service logs are kept beside the log', 'failed')
  which('keep-artifacts', 'samples whose artifacts are kept beside the log', 'all')
}

/** What was asked for on the command line, as the API takes it. @throws ConfigError */
export async function evaluateOptions(flags: RunFlags) {
  const { sampleId, secret, build, guest, sandbox } = flags
  const { maxSamples, maxSandboxes, maxStarts, maxTasks, epochs, limit, logDir, keep, reaper } = flags
  const { failOnError, continueOnFail, retryOnError, retryInfra, scoreOnError } = flags
  const { serviceLogs, keepArtifacts, removeImages, agent, fsync } = flags
  return {
    ...(await modelOptions(flags)),
    ...{ maxSamples, maxSandboxes, maxStarts, maxTasks, epochs, limit, logDir, keep, reaper },
    ...{ failOnError, continueOnFail, retryOnError, retryInfra, scoreOnError },
    ...{ serviceLogs, keepArtifacts, removeImages, agent, fsync },
    limits: limitOptions(flags),
    sampleIds: sampleId,
    secrets: secret,
    noBuild: build === false,
    transport: guest === false ? 'engine' : 'guest',
    sandbox: sandbox === undefined ? undefined : parseSandboxSpec(sandbox),
  } satisfies EvaluateOptions
}
