import { ConfigError } from '../../errors.ts'
import type { ResolveRequest } from './cache.ts'
import { bareVariables } from './read/variables.ts'

type Fields = Record<string, unknown>

interface NamedText {
  readonly place: string
  readonly text: string
  /** Whether an empty part already spoils it, or only an empty whole. */
  readonly whole: boolean
}

function entriesOf(value: unknown): [string, Fields][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) =>
    typeof item === 'object' && item !== null ? [[key, item as Fields]] : [],
  )
}

function namedTexts(document: unknown): NamedText[] {
  const fields = (document ?? {}) as Fields
  const found: NamedText[] = []
  const add = (place: string, value: unknown, whole: boolean) => {
    if (typeof value === 'string') found.push({ place, text: value, whole })
  }
  for (const [name, service] of entriesOf(fields.services)) {
    add(`services.${name}.image`, service.image, false)
    add(`services.${name}.container_name`, service.container_name, true)
    add(`services.${name}.hostname`, service.hostname, true)
  }
  for (const kind of ['networks', 'volumes']) {
    for (const [name, entry] of entriesOf(fields[kind])) add(`${kind}.${name}.name`, entry.name, true)
  }
  return found
}

/** Compose only warns of an unset variable; an image or a name that it leaves empty is an error. @throws ConfigError */
export function checkUnset(request: ResolveRequest, unset: readonly string[]): void {
  if (unset.length === 0) return
  const lines = request.sources.composeFiles.flatMap(({ documents }) =>
    documents.flatMap(namedTexts).flatMap(({ place, text, whole }) => {
      const missing = bareVariables(text).filter((name) => unset.includes(name))
      const isEmpty = whole ? missing.length > 0 && /^(\$\{?\w+\}?)+$/.test(text) : missing.length > 0
      return isEmpty ? [`  ${place}: '${text}' needs ${missing.join(', ')}`] : []
    }),
  )
  if (lines.length === 0) return
  throw new ConfigError(['variables are not set and have no default:', ...lines].join('\n'), {
    where: request.input.shown,
  })
}
