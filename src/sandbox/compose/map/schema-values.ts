import { z } from 'zod'

/** `docker compose config` prints some numbers as strings. */
export const numeric = z.union([z.number(), z.string().regex(/^-?\d+(\.\d+)?$/)]).transform(Number)

export const text = z.string()
export const list = z.array(z.string())
export const stringMap = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean()]).transform((value) => String(value)),
)
export const nullableMap = z.record(z.string(), z.string().nullable())

/** A key that Compose itself reads and then leaves without effect on containers. */
export const withoutEffect = z.unknown().optional()
