import { ConfigError } from '../errors.ts'
import type { EarlierAttempt, ErrorRecord } from '../log/records/records.ts'

/** true: any error; false: none; below 1: a share of all sample-epochs; from 1 on: so many errors. */
export type FailOnError = boolean | number

export interface ErrorPolicyOptions {
  readonly failOnError: FailOnError
  /** Errors are judged at the end only; no sample is cut short because another failed. */
  readonly continueOnFail: boolean
  /** Further attempts at a sample after an error of any kind. */
  readonly retryOnError: number
  /** Further attempts after an error of the sandbox, apart from those. */
  readonly retryInfra: number
  /** The number of samples still grows, so a share of them means nothing before the end. */
  readonly hasSource: boolean
}

export interface ErrorCounts {
  readonly errors: number
  readonly total: number
}

/** @throws ConfigError */
export function checkFailOnError(value: FailOnError): void {
  if (typeof value === 'boolean' || (value > 0 && value < 1) || (Number.isInteger(value) && value >= 1))
    return
  throw new ConfigError(`expected true, false, a share between 0 and 1 or a count from 1 on, got ${value}`, {
    where: 'failOnError',
  })
}

export function isInfrastructure({ kind }: ErrorRecord): boolean {
  return kind === 'sandbox' || kind === 'config'
}

/** Whether these errors are too many. */
export function isFailed(failOnError: FailOnError, { errors, total }: ErrorCounts): boolean {
  if (errors === 0 || failOnError === false) return false
  if (failOnError === true) return true
  return errors >= (failOnError < 1 ? failOnError * total : failOnError)
}

/** Whether these errors end the eval while samples still run. */
export function endsEval(policy: ErrorPolicyOptions, counts: ErrorCounts): boolean {
  const { failOnError, continueOnFail, hasSource } = policy
  if (continueOnFail) return false
  const isShare = typeof failOnError === 'number' && failOnError < 1
  return !(isShare && hasSource) && isFailed(failOnError, counts)
}

/** Whether an attempt that ended with this error is followed by another. A configuration that failed stays failed. */
export function isRetried(
  { retryOnError, retryInfra }: ErrorPolicyOptions,
  error: ErrorRecord,
  earlier: readonly EarlierAttempt[],
): boolean {
  if (error.kind === 'config' || error.kind === 'operator' || error.kind === 'log') return false
  const infra = [...earlier.map((attempt) => attempt.error), error].filter(isInfrastructure).length
  const byInfra = Math.min(infra, retryInfra)
  if (isInfrastructure(error) && infra <= retryInfra) return true
  return earlier.length + 1 - byInfra <= retryOnError
}
