import { z } from 'zod'
import { list, nullableMap, numeric, stringMap, text } from './schema-values.ts'

export const ulimitsSchema = z.record(
  z.string(),
  z.union([numeric, z.strictObject({ soft: numeric.optional(), hard: numeric.optional() })]),
)

export const fileReferenceSchema = z.strictObject({
  source: text,
  target: text.optional(),
  uid: text.optional(),
  gid: text.optional(),
  mode: text.optional(),
})

export const buildSchema = z.strictObject({
  context: text.optional(),
  dockerfile: text.optional(),
  dockerfile_inline: text.optional(),
  args: nullableMap.optional(),
  target: text.optional(),
  platforms: list.optional(),
  labels: stringMap.optional(),
  extra_hosts: list.optional(),
  shm_size: numeric.optional(),
  no_cache: z.boolean().optional(),
  pull: z.boolean().optional(),
  network: text.optional(),
  cache_from: list.optional(),
  cache_to: list.optional(),
  isolation: text.optional(),
  tags: list.optional(),
  secrets: z.array(fileReferenceSchema).optional(),
  ssh: z.union([list, nullableMap]).optional(),
  additional_contexts: stringMap.optional(),
  ulimits: ulimitsSchema.optional(),
  entitlements: list.optional(),
  privileged: z.boolean().optional(),
  provenance: text.optional(),
  sbom: text.optional(),
})

export type ComposeBuild = z.infer<typeof buildSchema>
