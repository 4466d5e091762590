import { InvalidArgumentError } from 'commander'
import { parse } from 'yaml'
import { ConfigError } from '../errors.ts'

/** What `belljar run` takes, as commander hands it over. */
export interface RunFlags {
  readonly T?: Record<string, unknown>
  readonly sandbox?: string
  readonly epochs?: number
  readonly maxSamples?: number
  readonly maxSandboxes?: number
  readonly maxTasks?: number
  readonly failOnError?: boolean
  readonly logDir: string
  readonly logLevel: string
  readonly json?: boolean
}

export function positiveInteger(text: string): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= 1) return number
  throw new InvalidArgumentError('expected a whole number of at least 1.')
}

export function trueOrFalse(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new InvalidArgumentError("expected 'true' or 'false'.")
}

/** `key=value`; the value is read as YAML, so `3` is a number and `[a, b]` a list. */
export function taskArgument(text: string, earlier: Record<string, unknown> = {}): Record<string, unknown> {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (key === undefined || value === undefined) throw new InvalidArgumentError('expected key=value.')
  if (Object.hasOwn(earlier, key)) throw new InvalidArgumentError(`'${key}' was given already.`)
  return { ...earlier, [key]: yamlValue(key, value) }
}

function yamlValue(key: string, value: string): unknown {
  try {
    return parse(value)
  } catch (error) {
    throw new ConfigError(`not a YAML value: ${value}`, { where: `-T ${key}`, cause: error })
  }
}
