import { ConfigError } from '../../../errors.ts'

const NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
}

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y

/** Nanoseconds of a duration as Go writes it (`1m30s`, `0.5s`); `place` names service and field in the error. */
export function parseGoDuration(written: string, place: string): number {
  if (written === '0') return 0
  let total = 0
  let position = 0
  while (position < written.length) {
    PART.lastIndex = position
    const part = PART.exec(written)
    const unit = NANOSECONDS[part?.[2] ?? '']
    if (part === null || unit === undefined) break
    total += Number(part[1]) * unit
    position = PART.lastIndex
  }
  if (written === '' || position < written.length || !Number.isSafeInteger(Math.round(total))) {
    throw new ConfigError(`expected a duration such as 1m30s, got '${written}'`, { where: place })
  }
  return Math.round(total)
}
