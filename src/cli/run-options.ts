import { InvalidArgumentError } from 'commander'
import { parse } from 'yaml'
import { ConfigError } from '../errors.ts'
import type { FsyncPolicy } from '../log/journal/journal.ts'
import type { FailOnError } from '../run/error-policy.ts'
import type { ServiceLogs } from '../run/sample/service-logs.ts'
import type { Keep } from '../sandbox/provider.ts'

/** What `belljar run` takes, as commander hands it over. */
export interface RunFlags {
  readonly T?: Record<string, unknown>
  readonly agent?: string
  readonly sandbox?: string
  readonly fsync?: FsyncPolicy
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
  readonly logLevel: string
  readonly json?: boolean
  readonly secret?: string[]
}

export const FSYNC: readonly FsyncPolicy[] = ['never', 'records', 'always']

export const KEEP: readonly Keep[] = ['none', 'failed', 'all']

export function positiveInteger(text: string): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= 1) return number
  throw new InvalidArgumentError('expected a whole number of at least 1.')
}

export function wholeNumber(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new InvalidArgumentError('expected a whole number.')
}

/** `n`, or `a,b`: the samples at positions from a up to b, counted from 0. */
export function sampleLimit(text: string): number | readonly [number, number] {
  const [, first, second] = /^(\d+)(?:,(\d+))?$/.exec(text) ?? []
  if (first === undefined) throw new InvalidArgumentError("expected a whole number or a range 'a,b'.")
  return second === undefined ? Number(first) : [Number(first), Number(second)]
}

/** `any` or `true`, `never` or `false`, a share such as `0.1`, a count such as `5`. */
export function failOnError(text: string): FailOnError {
  const words: Record<string, boolean> = { any: true, true: true, never: false, false: false }
  if (Object.hasOwn(words, text)) return words[text] ?? true
  const number = Number(text)
  if (text.trim() !== '' && number > 0 && (number < 1 || Number.isInteger(number))) return number
  throw new InvalidArgumentError("expected 'any', 'never', a share below 1 or a count.")
}

/** `key=value`; the value is read as YAML, so `3` is a number and `[a, b]` a list. */
export function yamlArgument(flag: string) {
  return (text: string, earlier: Record<string, unknown> = {}): Record<string, unknown> => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
    if (key === undefined || value === undefined) throw new InvalidArgumentError('expected key=value.')
    if (Object.hasOwn(earlier, key)) throw new InvalidArgumentError(`'${key}' was given already.`)
    return { ...earlier, [key]: yamlValue(value, `${flag} ${key}`) }
  }
}

export const taskArgument = yamlArgument('-T')

function yamlValue(value: string, where: string): unknown {
  try {
    return parse(value)
  } catch (error) {
    throw new ConfigError(`not a YAML value: ${value}`, { where, cause: error })
  }
}
