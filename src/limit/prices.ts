import { z } from 'zod'
import type { Prices } from './budget.ts'

const price = z.number().nonnegative()

/** Prices as a user wrote them. */
export const pricesSchema = z.record(
  z.string(),
  z.strictObject({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() }),
) satisfies z.ZodType<Prices>
