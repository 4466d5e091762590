import { z } from 'zod'
import { outputTail } from '../../agent/output-text.ts'
import type { ScorerCommand } from '../command.ts'
import type { Score, Scorer } from '../scorer.ts'
import {
  checkedPaths,
  lateScore,
  noResultScore,
  runFacts,
  runVerifier,
  type VerifierOptions,
  whyMissing,
} from './run-verifier.ts'

export interface RewardFileOptions extends VerifierOptions {
  /** Absolute paths, of which the first that was written counts (default: Harbor's, `/logs/verifier/reward.json`, then `reward.txt`). */
  readonly files?: readonly string[]
  /** Which of several rewards is the score (default: `reward`, or the only one). */
  readonly key?: string
}

const HARBOR_FILES = ['/logs/verifier/reward.json', '/logs/verifier/reward.txt']
const rewardsSchema = z.record(z.string(), z.number())

/**
 * Runs a verifier in the sandbox and takes as score the reward that it writes: a number as text, or a JSON object of numbers by name, all of
 * which are in the score's metadata. What was there before is removed first, and only regular files that the verifier wrote count. No
 * reward, or one that is no number, is what `noResult` says. The exit code judges nothing.
 */
export function rewardFile(argv: ScorerCommand, options: RewardFileOptions = {}): Scorer {
  const { name = 'reward', files = HARBOR_FILES, key, noResult } = options
  const paths = checkedPaths(files, `scorer ${name}`)
  return {
    name,
    needsSandbox: true,
    async score(context): Promise<Score | null> {
      const run = await runVerifier(argv, context, { ...options, name, paths })
      if ('late' in run) return lateScore(run)
      const refused = run.files.find(({ kind }) => kind === 'refused')
      const written = run.files.find((file) => file.kind === 'written')
      if (written?.kind !== 'written' || refused)
        return noResultScore(whyMissing(refused ? [refused] : run.files), { name, noResult, run })
      const rewards = rewardsIn(written.text)
      const value = rewards && chosenReward(rewards, key)
      if (value === undefined) {
        const names = rewards ? `: it has ${Object.keys(rewards).join(', ') || 'none'}` : ''
        const why = `${written.path} does not say the reward${key === undefined ? '' : ` '${key}'`}${names}`
        return noResultScore(why, { name, noResult, run })
      }
      return { value, explanation: outputTail(run.result), metadata: { rewards, ...runFacts(run) } }
    },
  }
}

/** undefined for text of another kind. */
function rewardsIn(text: string): Readonly<Record<string, number>> | undefined {
  const plain = text.replace(/^\uFEFF/u, '').trim()
  if (/^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/u.test(plain)) return finite({ reward: Number(plain) })
  try {
    return finite(rewardsSchema.parse(JSON.parse(plain)))
  } catch {
    return undefined
  }
}

function finite(rewards: Readonly<Record<string, number>>): Readonly<Record<string, number>> | undefined {
  return Object.values(rewards).every(Number.isFinite) ? rewards : undefined
}

function chosenReward(
  rewards: Readonly<Record<string, number>>,
  key: string | undefined,
): number | undefined {
  if (key !== undefined) return Object.hasOwn(rewards, key) ? rewards[key] : undefined
  if (Object.hasOwn(rewards, 'reward')) return rewards.reward
  const values = Object.values(rewards)
  return values.length === 1 ? values[0] : undefined
}
