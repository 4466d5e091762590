import { z } from 'zod'
import { serviceSchema } from './schema-service.ts'
import { stringMap, text, withoutEffect } from './schema-values.ts'

const networkSchema = z
  .strictObject({
    name: text.optional(),
    driver: text.optional(),
    driver_opts: stringMap.optional(),
    ipam: z.looseObject({ driver: text.optional() }).optional(),
    external: z.boolean().optional(),
    internal: z.boolean().optional(),
    attachable: z.boolean().optional(),
    enable_ipv4: z.boolean().optional(),
    enable_ipv6: z.boolean().optional(),
    labels: stringMap.optional(),
  })
  .nullable()

const volumeSchema = z
  .strictObject({
    name: text.optional(),
    driver: text.optional(),
    driver_opts: stringMap.optional(),
    external: z.boolean().optional(),
    labels: stringMap.optional(),
  })
  .nullable()

/** A secret or configuration; `external`, `driver` and `template_driver` belong to swarms and are left over on purpose. */
const sourceSchema = z.strictObject({
  name: text.optional(),
  file: text.optional(),
  content: text.optional(),
  environment: text.optional(),
  labels: withoutEffect,
})

/** What `docker compose config --format yaml` prints, less `x-` keys. */
export const projectSchema = z.strictObject({
  name: text.optional(),
  services: z.record(z.string(), serviceSchema),
  networks: z.record(z.string(), networkSchema).optional(),
  volumes: z.record(z.string(), volumeSchema).optional(),
  secrets: z.record(z.string(), sourceSchema).optional(),
  configs: z.record(z.string(), sourceSchema).optional(),
})

export type ComposeProject = z.infer<typeof projectSchema>
export type ComposeNetwork = z.infer<typeof networkSchema>
export type ComposeVolume = z.infer<typeof volumeSchema>
export type ComposeSource = z.infer<typeof sourceSchema>
