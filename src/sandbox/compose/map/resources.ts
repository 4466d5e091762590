import type { ComposeBuild } from './schema-build.ts'
import type { ComposeDeviceRequest } from './schema-resources.ts'
import type { ComposeService } from './schema-service.ts'

type HostConfig = Record<string, unknown>

/** A device name of the Container Device Interface, such as `vendor.com/class=name`. */
const CDI_NAME = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w-]*=[A-Za-z0-9][\w.:-]*$/

function deviceRequest(request: ComposeDeviceRequest, capabilities: readonly string[]) {
  return {
    Driver: request.driver,
    Count: request.count ?? 0,
    DeviceIDs: request.device_ids,
    Capabilities: [capabilities],
    Options: request.options,
  }
}

function deviceRequests(service: ComposeService): unknown[] {
  const devices = service.devices ?? []
  const named = devices.filter((device) => CDI_NAME.test(device.source)).map((device) => device.source)
  const reserved = service.deploy?.resources?.reservations?.devices ?? []
  return [
    ...reserved.map((request) => deviceRequest(request, request.capabilities ?? [])),
    ...(named.length > 0 ? [{ Driver: 'cdi', DeviceIDs: named }] : []),
    ...(service.gpus ?? []).map((request) =>
      deviceRequest(request, [...(request.capabilities ?? []), 'gpu']),
    ),
  ]
}

function deviceMappings(service: ComposeService): unknown[] {
  return (service.devices ?? [])
    .filter((device) => !CDI_NAME.test(device.source))
    .map((device) => ({
      PathOnHost: device.source,
      PathInContainer: device.target ?? device.source,
      CgroupPermissions: device.permissions ?? 'rwm',
    }))
}

export function ulimitList(ulimits: ComposeBuild['ulimits']): { Name: string; Soft: number; Hard: number }[] {
  return Object.entries(ulimits ?? {}).map(([Name, limit]) =>
    typeof limit === 'number'
      ? { Name, Soft: limit, Hard: limit }
      : { Name, Soft: limit.soft ?? 0, Hard: limit.hard ?? 0 },
  )
}

function throttles(devices: readonly { path: string; rate: number }[] | undefined) {
  return devices?.map((device) => ({ Path: device.path, Rate: device.rate }))
}

function blockIo(blkio: ComposeService['blkio_config']): HostConfig {
  if (blkio === undefined) return {}
  return {
    BlkioWeight: blkio.weight,
    BlkioWeightDevice: blkio.weight_device?.map(({ path, weight }) => ({ Path: path, Weight: weight })),
    BlkioDeviceReadBps: throttles(blkio.device_read_bps),
    BlkioDeviceReadIOps: throttles(blkio.device_read_iops),
    BlkioDeviceWriteBps: throttles(blkio.device_write_bps),
    BlkioDeviceWriteIOps: throttles(blkio.device_write_iops),
  }
}

function cpu(service: ComposeService): HostConfig {
  const cpus = service.deploy?.resources?.limits?.cpus ?? service.cpus
  return {
    CpuCount: service.cpu_count,
    CpuPercent: service.cpu_percent === undefined ? undefined : Math.round(service.cpu_percent * 100),
    CpuPeriod: service.cpu_period,
    CpuQuota: service.cpu_quota,
    CpuRealtimePeriod: service.cpu_rt_period,
    CpuRealtimeRuntime: service.cpu_rt_runtime,
    CpuShares: service.cpu_shares,
    CpusetCpus: service.cpuset,
    NanoCpus: cpus === undefined ? undefined : Math.round(cpus * 1e9),
  }
}

function memory(service: ComposeService): HostConfig {
  const { limits, reservations } = service.deploy?.resources ?? {}
  return {
    Memory: limits?.memory ?? service.mem_limit,
    MemoryReservation: reservations?.memory ?? service.mem_reservation,
    MemorySwap: service.memswap_limit,
    MemorySwappiness: service.mem_swappiness,
    OomKillDisable: service.oom_kill_disable,
    OomScoreAdj: service.oom_score_adj,
    PidsLimit: limits?.pids ?? service.pids_limit,
    ShmSize: service.shm_size,
  }
}

/** The part of the host configuration that limits or grants resources; `deploy` wins over the older keys, as in Compose. */
export function resources(service: ComposeService): HostConfig {
  return {
    ...cpu(service),
    ...memory(service),
    ...blockIo(service.blkio_config),
    CgroupParent: service.cgroup_parent,
    DeviceCgroupRules: service.device_cgroup_rules,
    DeviceRequests: deviceRequests(service),
    Devices: deviceMappings(service),
    Ulimits: ulimitList(service.ulimits),
  }
}
