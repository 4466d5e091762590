import { isLoopback } from '../compose/map/index.ts'
import type { NamedService, Refusal } from './refusal.ts'

const LOCAL_LOG_DRIVERS = new Set(['', 'json-file', 'local', 'none'])

function deviceRefusals({ place, service }: NamedService): Refusal[] {
  const devices = (service.devices ?? []).map((device, index) => ({
    place: `${place}.devices[${index}]`,
    why: `the host's device ${device.source}`,
    allow: `device:${device.source}`,
  }))
  const rules = (service.device_cgroup_rules ?? []).map((rule, index) => ({
    place: `${place}.device_cgroup_rules[${index}]`,
    why: `devices of the host (${rule})`,
    allow: 'device-cgroup-rules',
  }))
  return [...devices, ...rules]
}

function gpuRefusals({ place, service }: NamedService): Refusal[] {
  const refusal = { why: "the host's GPUs or other devices", allow: 'gpus' }
  return [
    ...((service.gpus ?? []).length > 0 ? [{ place: `${place}.gpus`, ...refusal }] : []),
    ...((service.deploy?.resources?.reservations?.devices ?? []).length > 0
      ? [{ place: `${place}.deploy.resources.reservations.devices`, ...refusal }]
      : []),
  ]
}

function portRefusals({ place, service }: NamedService): Refusal[] {
  return (service.ports ?? []).flatMap((port, index) =>
    !port.host_ip || isLoopback(port.host_ip)
      ? []
      : [
          {
            place: `${place}.ports[${index}].host_ip`,
            why: `a port of the host open to others (${port.host_ip})`,
            allow: `port:${port.host_ip}`,
          },
        ],
  )
}

export function hostGatewayRefusals(hosts: readonly string[] | undefined, place: string): Refusal[] {
  return (hosts ?? []).flatMap((host, index) =>
    /[=:]host-gateway$/.test(host)
      ? [
          {
            place: `${place}.extra_hosts[${index}]`,
            why: 'the way to services of the host',
            allow: 'host-gateway',
          },
        ]
      : [],
  )
}

export function resourceRefusals(named: NamedService): Refusal[] {
  const { place, service } = named
  const driver = service.logging?.driver ?? ''
  return [
    ...deviceRefusals(named),
    ...gpuRefusals(named),
    ...portRefusals(named),
    ...hostGatewayRefusals(service.extra_hosts, place),
    ...(LOCAL_LOG_DRIVERS.has(driver)
      ? []
      : [
          {
            place: `${place}.logging.driver`,
            why: `logs sent elsewhere (${driver})`,
            allow: `log-driver:${driver}`,
          },
        ]),
    ...(service.cgroup_parent
      ? [{ place: `${place}.cgroup_parent`, why: 'a control group of the host', allow: 'cgroup-parent' }]
      : []),
  ]
}
