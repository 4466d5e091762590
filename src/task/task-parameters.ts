import { ConfigError } from '../errors.ts'
import { canonicalJson } from '../util/canonical.ts'

/** What is known of one parameter of a task. A value that is not there was not declared, or not passed. */
export interface ParameterRecord {
  /** The default that the task declares. */
  readonly declared?: unknown
  readonly passed?: unknown
  /** What the run goes by. */
  readonly effective: unknown
  readonly source: 'declared' | 'passed' | 'derived'
  /** Whether the task reported the value that it really used. */
  readonly verified: boolean
}

export type ParameterRecords = Readonly<Record<string, ParameterRecord>>

/** Takes what a task's setup reports of its parameters. */
export class EffectiveParameters {
  readonly #records: Record<string, ParameterRecord>
  /** Whether the task declares its parameters: others are then a mistake. */
  readonly #isDeclared: boolean

  constructor(records: ParameterRecords, isDeclared: boolean) {
    this.#records = { ...records }
    this.#isDeclared = isDeclared
  }

  get records(): ParameterRecords {
    return this.#records
  }

  /** @throws ConfigError for a parameter that a task with declared ones does not have */
  report(name: string, value: unknown): void {
    const known = Object.hasOwn(this.#records, name) ? this.#records[name] : undefined
    if (!known && this.#isDeclared) {
      const names = Object.keys(this.#records).join(', ') || 'none'
      throw new ConfigError(`effective('${name}'): there is no such parameter (declared are: ${names})`)
    }
    const isSame = known && canonicalJson(known.effective) === canonicalJson(value)
    this.#records[name] = {
      ...known,
      effective: value,
      source: isSame ? known.source : 'derived',
      verified: true,
    }
  }
}
