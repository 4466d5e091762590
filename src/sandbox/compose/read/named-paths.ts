/** A path that a raw compose file names and that is opened while it is read. */
export interface NamedPath {
  readonly place: string
  readonly kind: 'include' | 'extends' | 'env_file' | 'label_file' | 'seccomp'
  /** As written. */
  readonly path: string
  /** Of an include: its `project_directory`, `env_file`, and the first of its paths. */
  readonly directory?: string
  readonly envFiles?: readonly string[]
  readonly firstPath?: string
}

const REMOTE = /^(?:[a-z][a-z0-9+.-]*:\/\/|git@|github\.com\/|oci:)|\.git(?:[#?:].*)?$/i

/** Whether Compose would fetch it, or BuildKit its context. */
export function isRemote(address: string): boolean {
  return REMOTE.test(address)
}

type Fields = Record<string, unknown>

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

function pathTexts(value: unknown): string[] {
  return listOf(value).flatMap((entry) => {
    const path = typeof entry === 'string' ? entry : fieldsOf(entry).path
    return typeof path === 'string' ? [path] : []
  })
}

function includes(document: Fields): NamedPath[] {
  return listOf(document.include).flatMap((entry, index) => {
    const { project_directory: directory, env_file: envFile } = fieldsOf(entry)
    const paths = typeof entry === 'string' ? [entry] : pathTexts(fieldsOf(entry).path)
    return paths.map((path) => ({
      place: `include[${index}]`,
      kind: 'include' as const,
      path,
      ...(typeof directory === 'string' ? { directory } : {}),
      ...(envFile === undefined ? {} : { envFiles: pathTexts(envFile) }),
      ...(paths[0] === undefined ? {} : { firstPath: paths[0] }),
    }))
  })
}

function seccompPaths(options: unknown): string[] {
  return listOf(options).flatMap((option) => {
    const path = /^seccomp[=:](.*)$/s.exec(String(option))?.[1]
    return path === undefined || path === 'unconfined' || path === 'builtin' ? [] : [path]
  })
}

function servicePaths(name: string, service: Fields): NamedPath[] {
  const place = `services.${name}`
  const extended = fieldsOf(service.extends).file
  return [
    ...(typeof extended === 'string'
      ? [{ place: `${place}.extends`, kind: 'extends' as const, path: extended }]
      : []),
    ...(['env_file', 'label_file'] as const).flatMap((kind) =>
      pathTexts(service[kind]).map((path) => ({ place: `${place}.${kind}`, kind, path })),
    ),
    ...seccompPaths(service.security_opt).map((path) => ({
      place: `${place}.security_opt`,
      kind: 'seccomp' as const,
      path,
    })),
  ]
}

/** All of them in one YAML document, in order. */
export function namedPaths(document: unknown): NamedPath[] {
  const fields = fieldsOf(document)
  const services = Object.entries(fieldsOf(fields.services))
  return [
    ...includes(fields),
    ...services.flatMap(([name, service]) => servicePaths(name, fieldsOf(service))),
  ]
}
