import { ConfigError } from '../../../errors.ts'

const PREFIX = 'SAMPLE_METADATA_'
const USED = /SAMPLE_METADATA_(\w+)/g
const REFERENCE = /\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g

function variableText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function variableSuffix(key: string): string {
  return key.replace(/\W/g, '_').toUpperCase()
}

function metadataFor(suffix: string, metadata: Readonly<Record<string, unknown>>): string | undefined {
  const exact = Object.hasOwn(metadata, suffix) ? metadata[suffix] : undefined
  if (exact !== undefined) return variableText(exact)
  const keys = Object.keys(metadata).filter((key) => variableSuffix(key) === suffix)
  if (keys.length > 1) {
    throw new ConfigError(`the metadata keys ${keys.join(' and ')} both stand for ${PREFIX}${suffix}`)
  }
  return variableText(metadata[keys[0] ?? ''])
}

/** The `SAMPLE_METADATA_` variables that the texts name and the sample has; big or odd metadata that nobody names is left alone. */
export function metadataVariables(
  texts: Iterable<string>,
  metadata: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const text of texts) {
    for (const [name, suffix = ''] of text.matchAll(USED)) {
      const value = metadataFor(suffix, metadata)
      if (value !== undefined) variables[name] = value
    }
  }
  return Object.fromEntries(Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Names of variables that a text uses without a default. */
export function bareVariables(text: string): string[] {
  return [...text.matchAll(REFERENCE)].flatMap(([, bare, braced]) => bare ?? braced ?? [])
}
