import { z } from 'zod'
import { list, numeric, stringMap, text, withoutEffect } from './schema-values.ts'

const deviceRequestSchema = z.strictObject({
  capabilities: list.optional(),
  driver: text.optional(),
  count: numeric.optional(),
  device_ids: list.optional(),
  options: stringMap.optional(),
})

export type ComposeDeviceRequest = z.infer<typeof deviceRequestSchema>

const throttleSchema = z.array(z.strictObject({ path: text, rate: numeric }))

export const blkioSchema = z.strictObject({
  weight: numeric.optional(),
  weight_device: z.array(z.strictObject({ path: text, weight: numeric })).optional(),
  device_read_bps: throttleSchema.optional(),
  device_read_iops: throttleSchema.optional(),
  device_write_bps: throttleSchema.optional(),
  device_write_iops: throttleSchema.optional(),
})

/** Keys of a swarm (placement, updates, labels of the swarm's service, CPU reservation) change nothing in Compose either. */
export const deploySchema = z.strictObject({
  replicas: numeric.optional(),
  resources: z
    .strictObject({
      limits: z
        .strictObject({ cpus: numeric.optional(), memory: numeric.optional(), pids: numeric.optional() })
        .optional(),
      reservations: z
        .strictObject({
          cpus: withoutEffect,
          memory: numeric.optional(),
          devices: z.array(deviceRequestSchema).optional(),
          generic_resources: withoutEffect,
        })
        .optional(),
    })
    .optional(),
  restart_policy: z
    .strictObject({
      condition: text.optional(),
      max_attempts: numeric.optional(),
      delay: withoutEffect,
      window: withoutEffect,
    })
    .optional(),
  mode: withoutEffect,
  labels: withoutEffect,
  endpoint_mode: withoutEffect,
  placement: withoutEffect,
  update_config: withoutEffect,
  rollback_config: withoutEffect,
})

/** Service keys that become resources of the host configuration. */
export const resourceShape = {
  blkio_config: blkioSchema.optional(),
  cgroup_parent: text.optional(),
  cpu_count: numeric.optional(),
  cpu_percent: numeric.optional(),
  cpu_period: numeric.optional(),
  cpu_quota: numeric.optional(),
  cpu_rt_period: numeric.optional(),
  cpu_rt_runtime: numeric.optional(),
  cpu_shares: numeric.optional(),
  cpus: numeric.optional(),
  cpuset: text.optional(),
  deploy: deploySchema.optional(),
  device_cgroup_rules: list.optional(),
  devices: z
    .array(z.strictObject({ source: text, target: text.optional(), permissions: text.optional() }))
    .optional(),
  gpus: z.array(deviceRequestSchema).optional(),
  mem_limit: numeric.optional(),
  mem_reservation: numeric.optional(),
  mem_swappiness: numeric.optional(),
  memswap_limit: numeric.optional(),
  oom_kill_disable: z.boolean().optional(),
  oom_score_adj: numeric.optional(),
  pids_limit: numeric.optional(),
}
