import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import type { SampleLimits } from '../../limit/budget.ts'
import { definedOnly } from '../../util/defined-only.ts'
import { positiveInteger } from '../arguments.ts'

/** What commands that run tasks take about what one sample may spend, as commander hands it over. */
export interface LimitFlags {
  readonly timeLimit?: number
  readonly workingLimit?: number
  readonly messageLimit?: number
  readonly turnLimit?: number
  readonly tokenLimit?: number
  readonly outputTokenLimit?: number
  readonly costLimit?: number
}

export function addLimitOptions(command: Command): Command {
  return command
    .option('--time-limit <s>', 'seconds that the agent may take for a sample', positive)
    .option('--working-limit <s>', 'the same, without what it waits for', positive)
    .option('--message-limit <n>', 'messages of a sample', positiveInteger)
    .option('--turn-limit <n>', 'model calls of a sample', positiveInteger)
    .option('--token-limit <n>', 'tokens of a sample, in and out', positiveInteger)
    .option('--output-token-limit <n>', 'tokens of the answers of a sample', positiveInteger)
    .option('--cost-limit <x>', 'cost of a sample, in the unit of the prices', positive)
}

/** Only what was given: each takes the place of the task's own. */
export function limitOptions(flags: LimitFlags): SampleLimits | undefined {
  const limits = definedOnly({
    timeMs: inMs(flags.timeLimit),
    workingMs: inMs(flags.workingLimit),
    messages: flags.messageLimit,
    turns: flags.turnLimit,
    tokens: flags.tokenLimit,
    outputTokens: flags.outputTokenLimit,
    cost: flags.costLimit,
  })
  return Object.keys(limits).length === 0 ? undefined : limits
}

function inMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000
}

function positive(text: string): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isFinite(number) && number > 0) return number
  throw new InvalidArgumentError('expected a number above 0.')
}
