import { z } from 'zod'
import type { Agent } from '../agent/agent.ts'
import type { GenerateConfig, Model } from '../agent/model.ts'
import { namedAgent } from '../agent/named-agent.ts'
import { ConfigError } from '../errors.ts'
import type { SampleLimits } from '../limit/budget.ts'
import type { Sample } from '../sample/sample.ts'
import { parseSandboxSpec, type SandboxSpec } from '../sample/sandbox-spec.ts'
import type { Reducer, ReducerName } from '../score/reduce.ts'
import type { Scorer } from '../score/scorer.ts'
import type { DatasetFile } from './dataset-file.ts'
import type { EarlyStopping } from './early-stopping.ts'
import type { SampleSource } from './sample-source.ts'
import type { Secret } from './secrets.ts'
import type { ParameterRecord, ParameterRecords } from './task-parameters.ts'
import { registerTask, type TaskStatus } from './task-registration.ts'
import { checkDefinition } from './task-schema.ts'
import type { TaskSetup } from './task-setup.ts'

/** Samples, a data file, or what makes samples while the task runs. A factory gives every eval a source of its own. */
export type Dataset = readonly Sample[] | DatasetFile | SampleSource | (() => SampleSource)

/** What a task may allow that is refused otherwise: references of added samples, and what sandboxes may not have, such as `cap-add:NET_ADMIN`. */
export type Allowance = 'added-paths' | 'added-urls' | (string & {})

export interface TaskDefinition {
  /** Default: the file's name. */
  readonly name?: string
  /** Changed whenever results can no longer be compared: an eval is not resumed under another. */
  readonly version?: string
  /** Ids (`package/name`) that the task had before: logs under them can be resumed. */
  readonly aliases?: readonly string[]
  readonly status?: TaskStatus
  readonly dataset: Dataset
  /** A function, or the name of a built-in agent: `oracle`, `nop`, `human`. */
  readonly agent: Agent | string
  readonly scorers?: readonly Scorer[]
  /** For runs that name none: a model, or the name of one for `loadModel`. */
  readonly model?: Model | string
  /** By role, such as `grader`; those that a run names take their place. */
  readonly modelRoles?: Readonly<Record<string, Model | string>>
  /** Settings of model calls. */
  readonly config?: GenerateConfig
  /** Left out: what lies beside the task file, else none. false: none. */
  readonly sandbox?: SandboxSpec | string | false
  /** How often each sample is run (default 1). */
  readonly epochs?: number
  /** Samples at once (default: as many as sandbox slots; 25 without sandboxes). */
  readonly maxSamples?: number
  readonly limits?: SampleLimits
  /** How the epochs of a sample become one score (default `mean`); several are told side by side. */
  readonly reducers?: readonly (ReducerName | Reducer)[]
  /** true: any error in a sample fails the eval (default). false: none. Below 1: a share of all; from 1 on: so many. */
  readonly failOnError?: boolean | number
  /** Too many errors fail the eval at its end; no sample is cut short for them (default false). */
  readonly continueOnFail?: boolean
  /** Further attempts at a sample after an error, each in a fresh sandbox at the back of the queue (default 0). */
  readonly retryOnError?: number
  /** Further attempts after a sandbox failed, apart from those (default 0). */
  readonly retryInfra?: number
  /** Scores what an agent left that ended with an error, after its last attempt (default false). */
  readonly scoreOnError?: boolean
  /** What an error thrown by a callback of the source fails: the eval (default), or only what the source was told of. */
  readonly sourceErrors?: 'eval' | 'sample'
  readonly earlyStopping?: EarlyStopping
  /** Deadline of a sample's `setup` in milliseconds (default 300,000). */
  readonly setupTimeoutMs?: number
  /** Time for all scorers of a sample together, in milliseconds (default 1,800,000). */
  readonly scoreTimeoutMs?: number
  /** Asks the source when at most so many runs are outstanding (default 0). */
  readonly prefetch?: number
  /** Files and folders that are taken out of the sandbox when the agent has ended: absolute paths, `service:/path` in other services. */
  readonly artifacts?: readonly string[]
  /** What the artifacts of one sample may hold together, in bytes (default 100 MiB). */
  readonly maxArtifactBytes?: number
  /** Another sandbox for the scorers, started when the agent's is gone; of that, only the artifacts come into it. */
  readonly verifier?: SandboxSpec | string
  /** What the agent left running when it ended lives on (default) or is killed; with a verifier it is always killed. */
  readonly agentProcesses?: 'keep' | 'kill'
  readonly allow?: readonly Allowance[]
  /** What no log, event or label may show: names of variables of the host, or values under names. */
  readonly secrets?: readonly Secret[]
  /** Run once, before anything is logged or started. */
  readonly setup?: TaskSetup
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly tags?: readonly string[]
}

/** A definition that has been checked. Made by `defineTask`. */
export class Task {
  readonly definition: TaskDefinition
  readonly agent: Agent
  readonly sandbox: SandboxSpec | false | undefined
  readonly verifier: SandboxSpec | undefined

  constructor(definition: TaskDefinition) {
    checkDefinition(definition)
    this.definition = definition
    this.agent = namedAgent(definition.agent, `task '${definition.name ?? 'without a name'}'`)
    this.sandbox =
      typeof definition.sandbox === 'string' ? parseSandboxSpec(definition.sandbox) : definition.sandbox
    this.verifier =
      typeof definition.verifier === 'string' ? parseSandboxSpec(definition.verifier) : definition.verifier
  }

  get name(): string | undefined {
    return this.definition.name
  }
}

/** A task that takes arguments. Made by `defineTask(meta, build)`. */
export class TaskFactory {
  readonly name: string
  readonly version: string | undefined
  readonly parameters: z.ZodObject
  readonly #build: (parameters: never) => TaskDefinition

  constructor(meta: TaskMeta, build: (parameters: never) => TaskDefinition) {
    this.name = meta.name
    this.version = meta.version
    this.parameters = z.strictObject((meta.parameters ?? z.object({})).shape)
    this.#build = build
  }

  /** @throws ConfigError for arguments that are not declared or do not fit */
  create(given: Readonly<Record<string, unknown>>): {
    task: Task
    parameters: Readonly<Record<string, unknown>>
  } {
    const parsed = this.parameters.safeParse(given)
    if (!parsed.success) throw new ConfigError(this.#refusal(parsed.error), { where: `task '${this.name}'` })
    const definition = this.#build(parsed.data as never)
    const task = new Task({ ...definition, name: this.name, version: this.version ?? definition.version })
    registerTask(task, { name: this.name, parameters: this.#records(given, parsed.data) })
    return { task, parameters: parsed.data }
  }

  #records(
    given: Readonly<Record<string, unknown>>,
    effective: Readonly<Record<string, unknown>>,
  ): ParameterRecords {
    const records = Object.entries(this.parameters.shape).map(([name, schema]): [string, ParameterRecord] => {
      const declared = z.safeParse(schema, undefined)
      const isPassed = Object.hasOwn(given, name)
      const record = {
        effective: effective[name],
        source: isPassed ? 'passed' : 'declared',
        verified: false,
      } as const
      return [
        name,
        {
          ...(declared.success && declared.data !== undefined && { declared: declared.data }),
          ...(isPassed && { passed: given[name] }),
          ...record,
        },
      ]
    })
    return Object.fromEntries(records)
  }

  #refusal(error: z.ZodError): string {
    const expected = Object.keys(this.parameters.shape).join(', ') || 'none'
    const problems = error.issues.map((issue) => {
      if (issue.code === 'unrecognized_keys')
        return `unknown parameter ${issue.keys.map((key) => `'${key}'`).join(', ')}`
      return `parameter '${issue.path.join('.')}': ${issue.message}`
    })
    return `${problems.join('; ')} (expected parameters: ${expected})`
  }
}

export interface TaskMeta<Parameters extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly version?: string
  /** Unknown arguments are refused. */
  readonly parameters?: Parameters
}

/** Defines a task. @throws ConfigError that names the field at fault */
export function defineTask(definition: TaskDefinition): Task
/** Defines a task with parameters (`-T key=value`). */
export function defineTask<Parameters extends z.ZodObject>(
  meta: TaskMeta<Parameters>,
  build: (parameters: z.output<Parameters>) => TaskDefinition,
): TaskFactory
export function defineTask(
  first: TaskDefinition | TaskMeta,
  build?: (parameters: never) => TaskDefinition,
): Task | TaskFactory {
  if (build) return new TaskFactory(first as TaskMeta, build)
  const task = new Task(first as TaskDefinition)
  registerTask(task, { name: task.name, parameters: undefined })
  return task
}
