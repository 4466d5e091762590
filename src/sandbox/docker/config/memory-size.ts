import { ConfigError } from '../../../errors.ts'

const UNIT_POWER: Readonly<Record<string, number>> = { b: 0, k: 1, m: 2, g: 3, t: 4 }
const SMALLEST = 6 * 1024 * 1024

/** Bytes from a number or from text such as `512m`, `1.5g`, `64MiB`, as Docker reads them. @throws ConfigError */
export function memoryBytes(size: string | number): number {
  const parsed = /^(\d+(?:\.\d+)?)\s*([bkmgt])?(?:i?b)?$/i.exec(String(size).trim())
  if (!parsed)
    throw new ConfigError(`memory: expected bytes or a size such as '512m', got ${JSON.stringify(size)}`)
  const power = UNIT_POWER[(parsed[2] ?? 'b').toLowerCase()] ?? 0
  const bytes = Math.floor(Number(parsed[1]) * 1024 ** power)
  if (bytes < SMALLEST)
    throw new ConfigError(`memory: expected at least 6m (Docker's smallest), got ${JSON.stringify(size)}`)
  return bytes
}
