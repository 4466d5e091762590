/** The service through which a sandbox with an allow-list reaches out, and its name on the sandbox's networks. */
export const GATEWAY = 'belljar-egress'
/** Where it listens for clients that know of it. */
export const PROXY_PORT = 3128

const HOLDER_PREFIX = 'belljar-net-'
const RESERVED = /^belljar-(egress$|net-)/

/** The service in whose network namespace another one is. */
export function holderName(service: string): string {
  return `${HOLDER_PREFIX}${service}`
}

export function isReservedName(name: string): boolean {
  return RESERVED.test(name)
}
