import type Docker from 'dockerode'

/** What an image that is present on the engine says of itself, as far as starting it needs to know. */
export interface PreparedImage {
  readonly id: string
  readonly reference: string
  readonly entrypoint: readonly string[]
  readonly user: string
  readonly workdir: string
  readonly volumes: readonly string[]
  readonly os: string
  readonly architecture: string
  readonly variant: string
}

export function preparedImage(reference: string, info: Docker.ImageInspectInfo): PreparedImage {
  const { Entrypoint, User, WorkingDir, Volumes } = info.Config ?? {}
  const entrypoint = Entrypoint ?? []
  return {
    id: info.Id,
    reference,
    entrypoint: typeof entrypoint === 'string' ? [entrypoint] : entrypoint,
    user: User ?? '',
    workdir: WorkingDir ?? '',
    volumes: Object.keys(Volumes ?? {}),
    os: info.Os,
    architecture: info.Architecture,
    variant: (info as { Variant?: string }).Variant ?? '',
  }
}
