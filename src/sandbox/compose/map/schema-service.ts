import { z } from 'zod'
import { buildSchema, fileReferenceSchema, ulimitsSchema } from './schema-build.ts'
import { resourceShape } from './schema-resources.ts'
import { list, nullableMap, numeric, stringMap, text, withoutEffect } from './schema-values.ts'

const portSchema = z.strictObject({
  target: numeric,
  published: text.optional(),
  host_ip: text.optional(),
  protocol: text.optional(),
  mode: withoutEffect,
  name: withoutEffect,
  app_protocol: withoutEffect,
})

const volumeSchema = z.strictObject({
  type: z.enum(['bind', 'volume', 'tmpfs', 'image', 'npipe', 'cluster']),
  source: text.optional(),
  target: text,
  read_only: z.boolean().optional(),
  consistency: text.optional(),
  bind: z
    .strictObject({
      create_host_path: z.boolean().optional(),
      propagation: text.optional(),
      selinux: text.optional(),
      recursive: text.optional(),
    })
    .optional(),
  volume: z.strictObject({ nocopy: z.boolean().optional(), subpath: text.optional() }).optional(),
  tmpfs: z.strictObject({ size: numeric.optional(), mode: numeric.optional() }).optional(),
  image: z.strictObject({ subpath: text.optional() }).optional(),
})

const endpointSchema = z
  .strictObject({
    aliases: list.optional(),
    driver_opts: stringMap.optional(),
    gw_priority: numeric.optional(),
    ipv4_address: text.optional(),
    ipv6_address: text.optional(),
    link_local_ips: list.optional(),
    mac_address: text.optional(),
    priority: numeric.optional(),
    interface_name: text.optional(),
  })
  .nullable()

const hookSchema = z.strictObject({
  command: list,
  user: text.optional(),
  privileged: z.boolean().optional(),
  working_dir: text.optional(),
  environment: nullableMap.optional(),
})

export const healthcheckSchema = z.strictObject({
  test: list.optional(),
  interval: text.optional(),
  timeout: text.optional(),
  retries: numeric.optional(),
  start_period: text.optional(),
  start_interval: text.optional(),
  disable: z.boolean().optional(),
})

export const serviceSchema = z.strictObject({
  ...resourceShape,
  annotations: stringMap.optional(),
  attach: withoutEffect,
  build: buildSchema.optional(),
  cap_add: list.optional(),
  cap_drop: list.optional(),
  cgroup: text.optional(),
  command: list.nullish(),
  configs: z.array(fileReferenceSchema).optional(),
  container_name: text.optional(),
  depends_on: z
    .record(
      z.string(),
      z.strictObject({
        condition: z.enum(['service_started', 'service_healthy', 'service_completed_successfully']),
        required: z.boolean().optional(),
        restart: withoutEffect,
      }),
    )
    .optional(),
  develop: withoutEffect,
  dns: list.optional(),
  dns_opt: list.optional(),
  dns_search: list.optional(),
  domainname: text.optional(),
  entrypoint: list.nullish(),
  environment: nullableMap.optional(),
  expose: list.optional(),
  extra_hosts: list.optional(),
  group_add: list.optional(),
  healthcheck: healthcheckSchema.optional(),
  hostname: text.optional(),
  image: text.optional(),
  init: z.boolean().optional(),
  ipc: text.optional(),
  isolation: text.optional(),
  labels: stringMap.optional(),
  links: list.optional(),
  logging: z.strictObject({ driver: text.optional(), options: stringMap.optional() }).optional(),
  mac_address: text.optional(),
  network_mode: text.optional(),
  networks: z.record(z.string(), endpointSchema).optional(),
  pid: text.optional(),
  platform: text.optional(),
  ports: z.array(portSchema).optional(),
  post_start: z.array(hookSchema).optional(),
  pre_stop: z.array(hookSchema).optional(),
  privileged: z.boolean().optional(),
  profiles: withoutEffect,
  pull_policy: text.optional(),
  read_only: z.boolean().optional(),
  restart: text.optional(),
  runtime: text.optional(),
  scale: numeric.optional(),
  secrets: z.array(fileReferenceSchema).optional(),
  security_opt: list.optional(),
  shm_size: numeric.optional(),
  stdin_open: z.boolean().optional(),
  stop_grace_period: text.optional(),
  stop_signal: text.optional(),
  storage_opt: stringMap.optional(),
  sysctls: stringMap.optional(),
  tmpfs: list.optional(),
  tty: z.boolean().optional(),
  ulimits: ulimitsSchema.optional(),
  user: text.optional(),
  userns_mode: text.optional(),
  uts: text.optional(),
  volumes: z.array(volumeSchema).optional(),
  volumes_from: list.optional(),
  working_dir: text.optional(),
})

export type ComposeService = z.infer<typeof serviceSchema>
export type ComposeVolumeMount = z.infer<typeof volumeSchema>
export type ComposePort = z.infer<typeof portSchema>
export type ComposeHook = z.infer<typeof hookSchema>
export type ComposeHealthcheck = z.infer<typeof healthcheckSchema>
