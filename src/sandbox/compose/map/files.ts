import type { FilePlan } from '../../sandbox-plan.ts'
import type { MapContext } from './context.ts'
import { targetOf } from './mounts.ts'
import type { ComposeProject, ComposeSource } from './schema.ts'
import type { ComposeService } from './schema-service.ts'

interface Kind {
  readonly key: 'secrets' | 'configs'
  readonly folder: string
}

const KINDS: readonly Kind[] = [
  { key: 'secrets', folder: '/run/secrets/' },
  { key: 'configs', folder: '/' },
]

/** The value of a secret or configuration that is not a file; undefined where its variable is not set. */
export function sourceContent(
  source: ComposeSource,
  environment: Readonly<Record<string, string>>,
): string | undefined {
  return source.content ?? environment[source.environment ?? '']
}

function filesOfKind(
  kind: Kind,
  { service, project, context }: { service: ComposeService; project: ComposeProject; context: MapContext },
): FilePlan[] {
  return (service[kind.key] ?? []).flatMap((reference) => {
    const source = project[kind.key]?.[reference.source]
    if (source === undefined || source.file !== undefined) return []
    const content = sourceContent(source, context.environment)
    if (content === undefined) {
      context.inexpressible.push(
        `${kind.key}.${reference.source}.environment: the variable ${source.environment ?? ''} is not set in the .env file beside the compose file`,
      )
      return []
    }
    return [
      {
        path: targetOf(reference, kind.folder),
        content,
        mode: Number.parseInt(reference.mode ?? '0444', 8),
        uid: Number(reference.uid ?? 0),
        gid: Number(reference.gid ?? 0),
      },
    ]
  })
}

/** Secrets and configurations that are no files of the host: they are put into the container before it starts. */
export function serviceFiles(
  service: ComposeService,
  project: ComposeProject,
  context: MapContext,
): FilePlan[] {
  const files = KINDS.flatMap((kind) => filesOfKind(kind, { service, project, context }))
  return [...new Map(files.map((file) => [file.path, file])).values()]
}
