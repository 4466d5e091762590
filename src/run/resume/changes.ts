import type { HeaderRecord } from '../../log/records/records.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { RESUME_RULES } from './rules.ts'

/** What has changed that results depend on, a line each. Only what both headers have is compared. */
export function forbiddenChanges(recorded: HeaderRecord, current: HeaderRecord): string[] {
  return Object.entries(RESUME_RULES).flatMap(([name, rule]) =>
    typeof rule === 'function' ? difference(name, rule(recorded), rule(current)) : [],
  )
}

/** What has changed among the options that may. */
export function allowedChanges(recorded: HeaderRecord, current: HeaderRecord): string[] {
  const [before, after] = [recorded.config.given ?? {}, current.config.given ?? {}]
  return Object.entries(RESUME_RULES).flatMap(([name, rule]) => {
    if (rule !== 'may-change' || canonicalJson(before[name]) === canonicalJson(after[name])) return []
    return [changeText(name, before[name], after[name])]
  })
}

const NESTED = ['parameters', 'limits', 'sandbox', 'dataset']

function difference(name: string, before: unknown, after: unknown): string[] {
  if (before === undefined || after === undefined || canonicalJson(before) === canonicalJson(after)) return []
  if (!NESTED.includes(name) || !isObject(before) || !isObject(after))
    return [changeText(name, before, after)]
  // Sandboxes that only one of them has are those of samples that only one of them names so far.
  const isPartial = name === 'sandbox'
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    if (isPartial && (before[key] === undefined || after[key] === undefined)) return []
    const isSame = canonicalJson(before[key]) === canonicalJson(after[key])
    return isSame ? [] : [changeText(`${name} ${key}`, before[key], after[key])]
  })
}

function changeText(name: string, before: unknown, after: unknown): string {
  return `${name}: was ${shown(before)}, is ${shown(after)}`
}

const MAX_SHOWN = 200

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'not set'
  const text = canonicalJson(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
