import type { z } from 'zod'
import { ConfigError } from '../../../errors.ts'
import { type ComposeProject, projectSchema } from './schema.ts'

export interface ServiceMarks {
  readonly isDefault: boolean
  /** The image is made on this machine: never pulled. */
  readonly isLocal: boolean
}

export interface ParsedProject {
  readonly project: ComposeProject
  readonly marks: ReadonlyMap<string, ServiceMarks>
  /** Places of keys that no plan can express, such as `services.web.provider`. */
  readonly leftovers: readonly string[]
}

type Json = Record<string, unknown>

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `$$` stands for `$` in what Compose prints; keys are printed as they are. */
function unescaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('$$', '$')
  if (Array.isArray(value)) return value.map(unescaped)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unescaped(item)]))
}

/** Extensions may stand in any object that is not a map of the user's own names. */
const OWN_NAMES = new Set([
  'services',
  'networks',
  'volumes',
  'secrets',
  'configs',
  'environment',
  'labels',
  'args',
  'annotations',
  'sysctls',
  'driver_opts',
  'options',
  'storage_opt',
  'additional_contexts',
  'depends_on',
  'ulimits',
])

function withoutExtensions(value: unknown, key?: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutExtensions(item))
  if (!isObject(value)) return value
  const keepsAll = key !== undefined && OWN_NAMES.has(key)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => keepsAll || !name.startsWith('x-'))
      .map(([name, item]) => [name, withoutExtensions(item, name)]),
  )
}

function readMarks(services: unknown): Map<string, ServiceMarks> {
  const marks = new Map<string, ServiceMarks>()
  if (!isObject(services)) return marks
  for (const [name, service] of Object.entries(services)) {
    const fields = isObject(service) ? service : {}
    marks.set(name, { isDefault: fields['x-default'] === true, isLocal: fields['x-local'] === true })
  }
  return marks
}

function placeOf(path: readonly PropertyKey[]): string {
  return path.map(String).join('.')
}

function deleteAt(root: unknown, path: readonly PropertyKey[], keys: readonly string[]): void {
  let target = root
  for (const step of path) target = (target as Record<PropertyKey, unknown>)[step]
  for (const key of keys) delete (target as Json)[key]
}

function shapeError(error: z.ZodError): ConfigError {
  const lines = error.issues.map((issue) => `  ${placeOf(issue.path)}: ${issue.message}`)
  return new ConfigError(`what Compose made of the file has an unexpected shape:\n${lines.join('\n')}`)
}

/** Reads what `docker compose config` printed, after YAML parsing. Keys that are not known are set aside, not ignored. */
export function parseProject(document: unknown): ParsedProject {
  const marks = readMarks(isObject(document) ? document.services : undefined)
  const candidate = withoutExtensions(unescaped(document))
  const leftovers: string[] = []
  // Each round removes the unknown keys that the last one reported; unions hide some of them until then.
  for (let round = 0; round < 5; round++) {
    const parsed = projectSchema.safeParse(candidate)
    if (parsed.success) return { project: parsed.data, marks, leftovers }
    const unknown = parsed.error.issues.filter((issue) => issue.code === 'unrecognized_keys')
    if (unknown.length === 0) throw shapeError(parsed.error)
    for (const issue of unknown) {
      leftovers.push(...issue.keys.map((key) => placeOf([...issue.path, key])))
      deleteAt(candidate, issue.path, issue.keys)
    }
  }
  throw new ConfigError('what Compose made of the file has an unexpected shape')
}
