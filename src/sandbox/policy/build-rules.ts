import type { NamedService, Refusal } from './refusal.ts'
import { hostGatewayRefusals } from './resource-rules.ts'

function networkRefusals(network: string | undefined, place: string): Refusal[] {
  if (network === 'host') {
    return [
      { place: `${place}.network`, why: "the host's network during the build", allow: 'build-host-network' },
    ]
  }
  if (!network?.startsWith('container:')) return []
  return [{ place: `${place}.network`, why: 'the network of a container outside', allow: network }]
}

/** What a build may not have; its context and files are among the host paths. */
export function buildRefusals({ place: servicePlace, service }: NamedService): Refusal[] {
  const { build } = service
  if (build === undefined) return []
  const place = `${servicePlace}.build`
  const hasSsh = Object.keys(build.ssh ?? {}).length > 0
  return [
    ...networkRefusals(build.network, place),
    ...hostGatewayRefusals(build.extra_hosts, place),
    ...(hasSsh ? [{ place: `${place}.ssh`, why: "the user's SSH agent or keys", allow: 'build-ssh' }] : []),
    ...(build.privileged
      ? [
          {
            place: `${place}.privileged`,
            why: 'full access to the host during the build',
            allow: 'build-privileged',
          },
        ]
      : []),
    ...(build.entitlements ?? []).map((entitlement, index) => ({
      place: `${place}.entitlements[${index}]`,
      why: `the build entitlement ${entitlement}`,
      allow: `build-entitlement:${entitlement}`,
    })),
    ...[...(build.cache_to ?? []), ...(build.cache_from ?? [])]
      .filter((entry) => entry.includes('=') && !/(^|,)type=(inline|registry)(,|$)/.test(entry))
      .map((entry) => ({
        place: `${place}.cache_to`,
        why: `a build cache elsewhere (${entry})`,
        allow: 'build-cache',
      })),
  ]
}
