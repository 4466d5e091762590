import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { parse } from 'yaml'
import { REASONING_EFFORTS } from '../../agent/generate-config.ts'
import type { ReasoningEffort } from '../../agent/model.ts'
import { ConfigError, errorMessage } from '../../errors.ts'
import { pricesSchema } from '../../limit/prices.ts'
import type { EvaluateOptions } from '../../run/options.ts'
import { listArgument, number, positiveInteger, wholeNumber, yamlArgument } from '../arguments.ts'

/** What commands that run tasks take about models, as commander hands it over. */
export interface ModelFlags {
  readonly model?: string[]
  readonly modelBaseUrl?: string
  readonly M?: Record<string, unknown>
  readonly modelRole?: Record<string, string>
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly maxTokens?: number
  readonly seed?: number
  readonly stop?: string[]
  readonly reasoningEffort?: ReasoningEffort
  readonly reasoningTokens?: number
  readonly maxRetries?: number
  readonly attemptTimeout?: number
  readonly maxConnections?: number
  readonly cache?: boolean
  readonly cacheDir?: string
  readonly prices?: string
}

export function addModelOptions(command: Command): Command {
  return command
    .option(
      '--model <name>',
      'model, such as openai/gpt-5 or openai-compatible/qwen3; given several times: every task with each',
      listArgument,
    )
    .option('--model-base-url <url>', 'where the model is reached')
    .option('-M <key=value>', 'argument of the model, may be repeated', yamlArgument('-M'))
    .option('--model-role <role=name>', 'model of a role, such as grader; may be repeated', roleArgument)
    .option('--temperature <x>', 'of every model call', number)
    .option('--top-p <x>', 'of every model call', number)
    .option('--top-k <n>', 'of every model call', positiveInteger)
    .option('--max-tokens <n>', 'tokens that one answer may have', positiveInteger)
    .option('--seed <n>', 'of every model call', wholeNumber)
    .option('--stop <text>', 'text that ends an answer, may be repeated', listArgument)
    .addOption(new Option('--reasoning-effort <level>', 'how hard to think').choices(REASONING_EFFORTS))
    .option('--reasoning-tokens <n>', 'tokens that one answer may be thought about', positiveInteger)
    .option(
      '--max-retries <n>',
      'further attempts of a call that failed and may pass (default: 10)',
      wholeNumber,
    )
    .option('--attempt-timeout <s>', 'seconds that one attempt may take (default: 1800)', positiveInteger)
    .option('--max-connections <n>', 'calls of each model at once (default: adapts)', positiveInteger)
    .option('--cache', "use models' answers again that were given to the same calls within a week")
    .option('--cache-dir <dir>', 'where they are kept (default: ~/.cache/belljar/models)')
    .option('--prices <file>', 'YAML or JSON: by model, prices per million tokens (input, output)')
}

/** @throws ConfigError */
export async function modelOptions(flags: ModelFlags) {
  const {
    model: models = [],
    modelBaseUrl,
    M,
    modelRole,
    maxConnections,
    attemptTimeout,
    cache,
    prices,
  } = flags
  const directory = flags.cacheDir ?? join(homedir(), '.cache', 'belljar', 'models')
  return {
    model: models.length === 1 ? models[0] : undefined,
    models: models.length > 1 ? models : undefined,
    modelBaseUrl,
    modelArgs: M,
    modelRoles: modelRole,
    maxConnections,
    cache: cache || flags.cacheDir !== undefined ? { directory } : undefined,
    prices: prices === undefined ? undefined : await readPrices(prices),
    config: {
      temperature: flags.temperature,
      topP: flags.topP,
      topK: flags.topK,
      maxOutputTokens: flags.maxTokens,
      seed: flags.seed,
      stopSequences: flags.stop,
      reasoningEffort: flags.reasoningEffort,
      reasoningTokens: flags.reasoningTokens,
      maxRetries: flags.maxRetries,
      attemptTimeoutMs: attemptTimeout === undefined ? undefined : attemptTimeout * 1000,
    },
  } satisfies EvaluateOptions
}

async function readPrices(file: string): Promise<EvaluateOptions['prices']> {
  try {
    return pricesSchema.parse(parse(await readFile(file, 'utf8')))
  } catch (error) {
    throw new ConfigError(errorMessage(error), { where: `--prices ${file}`, cause: error })
  }
}

function roleArgument(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, role, model] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (role === undefined || model === undefined) throw new InvalidArgumentError('expected role=model.')
  if (Object.hasOwn(earlier, role)) throw new InvalidArgumentError(`'${role}' was given already.`)
  return { ...earlier, [role]: model }
}
