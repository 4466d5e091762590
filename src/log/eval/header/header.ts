import type { TaskIdentity } from '../../records/header-record.ts'
import type { FooterRecord, HeaderRecord } from '../../records/records.ts'
import { toEvalError } from '../errors.ts'
import { toEvalId } from '../ids.ts'
import type { HeaderMember } from '../schema/members.ts'
import type { EvalUsage } from '../schema/values.ts'
import { headerConfig, modelFields } from './model-fields.ts'

const VERSION = 2

/** First member: what is known before anything has run. */
export function toStart(header: HeaderRecord) {
  return { version: VERSION, eval: evalSpec(header), plan: plan(header), belljar: { header } }
}

function plan(header: HeaderRecord) {
  const solver = header.task.agent ?? 'agent'
  return { name: 'plan', steps: [{ solver, params: {}, params_passed: {} }], config: headerConfig(header) }
}

export interface HeaderParts {
  readonly header: HeaderRecord
  readonly footer: FooterRecord
  readonly usage: Readonly<Record<string, EvalUsage>>
  readonly roleUsage: Readonly<Record<string, EvalUsage>>
}

/** Last member: the outcome. */
export function toHeader({ header, footer, usage, roleUsage }: HeaderParts): HeaderMember {
  const { totals, error } = footer
  return {
    ...toStart(header),
    status: footer.status,
    results: {
      total_samples: totals.total,
      completed_samples: totals.success + totals.limit,
      scores: toResultScores(footer.scores, header.epochs),
    },
    stats: {
      started_at: offsetTime(header.createdAt),
      completed_at: offsetTime(footer.completedAt),
      model_usage: { ...usage },
      role_usage: { ...roleUsage },
    },
    error: error && toEvalError(error),
    invalidated: false,
    tags: header.task.tags ?? [],
    metadata: header.task.metadata ?? {},
    belljar: { header, footer },
  }
}

function evalSpec(header: HeaderRecord): HeaderMember['eval'] {
  const { task, dataset, config, epochs, identity } = header
  return {
    eval_id: header.eval,
    run_id: header.run,
    created: offsetTime(header.createdAt),
    task: task.name,
    eval_set_id: header.set,
    task_id: header.lineage?.[0]?.eval ?? header.eval,
    task_version: task.version ?? 0,
    task_file: task.file,
    task_display_name: task.name,
    task_registry_name: identity?.id,
    task_attribs: {},
    task_args: task.parameters,
    task_args_passed: identity ? passedParameters(identity) : task.parameters,
    dataset: {
      name: identity?.dataset.name,
      samples: dataset.samples,
      sample_ids: dataset.sampleIds.map(toEvalId),
      shuffled: false,
    },
    ...modelFields(header),
    config: {
      epochs,
      epochs_reducer: ['mean'],
      fail_on_error: config.failOnError,
      max_samples: config.maxSamples,
      max_sandboxes: config.maxSandboxes,
      ...limitFields(config.limits),
    },
    packages: { belljar: header.belljar },
    scorers: toSpecScorers(header.scorers),
    tags: task.tags,
    metadata: task.metadata,
  }
}

/** What a header says of scorers. */
export function toSpecScorers(scorers: HeaderRecord['scorers']) {
  return scorers.map(({ name, metrics }) => ({
    name,
    options: {},
    metrics: metrics.map((metric) => ({ name: metric, options: {} })),
    metadata: {},
  }))
}

/** What the results say of scorers. */
export function toResultScores(scores: FooterRecord['scores'], epochs: number) {
  return scores.map(({ scorer, reducer, scored, unscored, metrics }) => ({
    name: scorer,
    scorer,
    reducer: reducer ?? (epochs > 1 ? 'mean' : undefined),
    scored_samples: scored,
    unscored_samples: unscored,
    params: {},
    metrics: Object.fromEntries(
      metrics.map(({ name, value }) => [name, { name, value: value ?? Number.NaN, params: {} }]),
    ),
  }))
}

function passedParameters({ parameters }: TaskIdentity): Record<string, unknown> {
  const passed = Object.entries(parameters).filter(([, record]) => 'passed' in record)
  return Object.fromEntries(passed.map(([name, record]) => [name, record.passed]))
}

function limitFields({ messages, tokens, turns, timeMs, workingMs }: Readonly<Record<string, number>>) {
  const seconds = (ms: number | undefined) => (ms === undefined ? undefined : Math.ceil(ms / 1000))
  return {
    message_limit: messages,
    token_limit: tokens,
    turn_limit: turns,
    time_limit: seconds(timeMs),
    working_limit: seconds(workingMs),
  }
}

/** Times as Inspect writes them. */
export function offsetTime(iso: string): string {
  return iso.replace(/(\.\d+)?Z$/, '+00:00')
}
