import { type Command, Option } from 'commander'
import type { Model } from '../agent/model.ts'
import { loadModel } from '../agent/providers/load-model.ts'
import { ConfigError } from '../errors.ts'
import { readOverview } from '../log/read/log-reader.ts'
import type { HeaderRecord } from '../log/records/records.ts'
import { logScorers } from '../run/rescore/log-scorers.ts'
import { type RescoreAction, type ScoredLog, scoreLog } from '../run/rescore/score-log.ts'
import type { Task } from '../task/task.ts'
import { definedOnly } from '../util/defined-only.ts'
import { escapeLine } from '../util/terminal.ts'
import { positiveInteger } from './arguments.ts'
import { EXIT_CODES } from './exit-code.ts'
import { addModelOptions, type ModelFlags, modelOptions } from './options/model-options.ts'
import { type Output, processOutput } from './show/output.ts'
import { summary } from './show/summary.ts'
import { StopSignals } from './stop-signals.ts'
import { taskAlias } from './task-alias.ts'

interface ScoreFlags extends ModelFlags {
  readonly scorer?: string[]
  readonly action: RescoreAction
  readonly out?: string
  readonly maxSamples?: number
  readonly secret?: string[]
  readonly json?: boolean
}

const FAILURES_SHOWN = 10

/** `belljar score LOG [FILE]` */
export function addScoreCommand(program: Command, finish: (exitCode: number) => void): void {
  const command = program
    .command('score')
    .description('score the samples of a log again, without agents, into a new log')
    .argument('<log>', 'path of a finished log, also one that Inspect wrote')
    .argument('[file]', 'task file whose scorers are used (default: that of the log)')
    .option('--scorer <names...>', 'only these scorers of the task, or built-in ones')
    .addOption(
      new Option('--action <what>', 'whether new scores stand beside those that there are')
        .choices(['append', 'overwrite'])
        .default('append'),
    )
    .option('--out <file>', 'path of the new log (default: beside the old one)')
    .option('--max-samples <n>', 'samples judged at once (default: 10)', positiveInteger)
    .option('--secret <names...>', 'variables of the environment whose values the log may not show')
  addModelOptions(command)
    .option('--json', 'the outcome on stdout, as one object')
    .action(async (log: string, file: string | undefined, flags: ScoreFlags) =>
      finish(await score(log, file, flags)),
    )
}

async function score(log: string, file: string | undefined, flags: ScoreFlags): Promise<number> {
  const output = processOutput()
  const { header } = await readOverview(log)
  const { scorer: names, action, out, maxSamples, secret } = flags
  const { scorers, passedOver, task } = await logScorers({ log, header, file, names, alias: taskAlias() })
  if (passedOver.length > 0)
    output.line(
      `not used, as they act in the sandbox, which is gone: ${passedOver.map((name) => escapeLine(name, 80)).join(', ')}`,
    )
  using stop = new StopSignals({
    onFirst: (signal) => output.line(`${signal}: stopping; no log is written`),
    onLeave: () => undefined,
  })
  const { models, ...given } = await modelOptions(flags)
  if (models) throw new ConfigError('a log is scored with one model', { where: '--model' })
  const options = { ...given, ...recordedModels(header, task, given) }
  try {
    const scored = await scoreLog(log, {
      ...options,
      config: { ...task?.definition.config, ...definedOnly(given.config) },
      scorers,
      action,
      out,
      maxSamples,
      secrets: [...(task?.definition.secrets ?? []), ...(secret ?? [])],
      reducers: task?.definition.reducers,
      signal: stop.signal,
    })
    return report(scored, flags, output)
  } catch (error) {
    if (stop.received) return EXIT_CODES[stop.received]
    throw error
  }
}

/** Models that nothing else names are those of the eval; they are loaded when they are first called. */
function recordedModels(
  { model, modelFacts, modelRoles = {} }: HeaderRecord,
  task: Task | undefined,
  given: Pick<Awaited<ReturnType<typeof modelOptions>>, 'model' | 'modelRoles'>,
) {
  const roles = Object.entries(modelRoles).map(([role, { model: name, baseUrl, args }]) => [
    role,
    lateModel(name, { baseUrl, args }),
  ])
  const recorded = model === undefined ? undefined : lateModel(model, modelFacts ?? {})
  return {
    ...(given.model === undefined && { model: task?.definition.model ?? recorded }),
    modelRoles: { ...Object.fromEntries(roles), ...task?.definition.modelRoles, ...given.modelRoles },
  }
}

function lateModel(name: string, options: Parameters<typeof loadModel>[1]): Model {
  let loaded: Promise<Model> | undefined
  return {
    name,
    generate: async (request) => {
      loaded ??= loadModel(name, options)
      return (await loaded).generate(request)
    },
  }
}

function report(scored: ScoredLog, flags: ScoreFlags, output: Output): number {
  const { log, header, footer, judged, leftOut, failures } = scored
  output.line(`${judged} samples judged${leftOut > 0 ? `, ${leftOut} left as they are` : ''}`)
  for (const { id, epoch, scorer, message } of failures.slice(0, FAILURES_SHOWN))
    output.line(
      `sample ${escapeLine(String(id), 80)} (epoch ${epoch}), ${escapeLine(scorer, 80)}: ${escapeLine(message, 400)}`,
    )
  if (failures.length > FAILURES_SHOWN)
    output.line(`and ${failures.length - FAILURES_SHOWN} more could not be scored`)
  output.line(`\n${summary({ header, footer })}\nlog: ${log}`)
  if (flags.json) output.json({ type: 'scored', log, judged, leftOut, failures, scores: footer.scores })
  return failures.length > 0 ? EXIT_CODES.sampleErrors : EXIT_CODES.success
}
