import type { ComposePort, ComposeService } from './schema-service.ts'

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|\[::1\]|localhost)$/

export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address)
}

/** `3000`, `8000-8002/udp` as single ports with their protocol. */
export function expandedPorts(written: string): string[] {
  const [range = '', protocol = 'tcp'] = written.split('/')
  const [first = 0, last = first] = range.split('-').map(Number)
  return Array.from({ length: last - first + 1 }, (_, index) => `${first + index}/${protocol}`)
}

export function exposedPorts(service: ComposeService): Record<string, object> {
  const names = [...(service.expose ?? []).flatMap(expandedPorts), ...(service.ports ?? []).map(portName)]
  return Object.fromEntries(names.map((name) => [name, {}]))
}

function portName(port: ComposePort): string {
  return `${port.target}/${port.protocol ?? 'tcp'}`
}

/** Every published port goes to an ephemeral one, on loopback unless the file itself names another address. */
export function portBindings(
  service: ComposeService,
): Record<string, { HostIp: string; HostPort: string }[]> {
  const bindings: Record<string, { HostIp: string; HostPort: string }[]> = {}
  for (const port of service.ports ?? []) {
    const binding = { HostIp: port.host_ip || '127.0.0.1', HostPort: '' }
    const bound = bindings[portName(port)] ?? []
    if (bound.some((other) => other.HostIp === binding.HostIp)) continue
    bindings[portName(port)] = [...bound, binding]
  }
  return bindings
}

export function portRewritings(name: string, service: ComposeService): string[] {
  return (service.ports ?? []).flatMap((port, index) =>
    port.published === undefined
      ? []
      : [`services.${name}.ports[${index}]: host port ${port.published} becomes an ephemeral one`],
  )
}
