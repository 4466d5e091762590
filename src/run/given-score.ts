import { BelljarError } from '../errors.ts'
import { isScore } from '../log/records/records.ts'
import type { Score } from '../score/scorer.ts'

/** What a scorer has returned. undefined: it could not judge, which null and NaN say. @throws BelljarError `scorer-failed` for what is no score */
export function givenScore(scorer: string, score: Score | null): Score | undefined {
  if (score === null || (typeof score === 'object' && Number.isNaN(score.value))) return undefined
  if (isScore(score)) return score
  throw new BelljarError('scorer-failed', `scorer '${scorer}' returned no score: ${JSON.stringify(score)}`)
}
