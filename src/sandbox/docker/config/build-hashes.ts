import { ConfigError } from '../../../errors.ts'
import { canonicalHash } from '../../../util/canonical.ts'
import type { BuildPlan, SandboxPlan } from '../../sandbox-plan.ts'
import { buildHash } from '../image/build-hash.ts'

const SERVICE = 'service:'
const NO_FOLDER = /^(docker-image|oci-layout|target):|:\/\//

function folderHash(context: string): Promise<string> {
  return buildHash({ context, dockerfile: 'Dockerfile', dockerfileInline: '', args: {} })
}

/** Content hash by service, for those that are built: of all that a build is made from, also of its further contexts. */
export async function planBuildHashes(plan: SandboxPlan): Promise<Record<string, string>> {
  const hashes = new Map<string, string>()
  const ofContext = (source: string, above: readonly string[]): Promise<string> | string => {
    if (source.startsWith(SERVICE)) return ofService(source.slice(SERVICE.length), above)
    return NO_FOLDER.test(source) ? source : folderHash(source)
  }
  const ofBuild = async (build: BuildPlan, above: readonly string[]): Promise<string> => {
    const own = await buildHash(build)
    const contexts = Object.entries(build.buildx?.contexts ?? {})
    if (contexts.length === 0) return own
    const parts: unknown[] = [own]
    for (const [name, source] of contexts) parts.push([name, await ofContext(source, above)])
    return canonicalHash(parts).slice(0, own.length)
  }
  const ofService = async (name: string, above: readonly string[]): Promise<string> => {
    if (above.includes(name)) {
      throw new ConfigError(`builds need each other's images in a circle: ${[...above, name].join(', ')}`)
    }
    const image = plan.services.find((service) => service.name === name)?.image
    if (image?.kind !== 'build')
      throw new ConfigError(`a build uses the image of '${name}', which is not built here`)
    const hash = hashes.get(name) ?? (await ofBuild(image.build, [...above, name]))
    hashes.set(name, hash)
    return hash
  }
  for (const { name, image } of plan.services) if (image.kind === 'build') await ofService(name, [])
  return Object.fromEntries(hashes)
}
