import { limitTypeSchema } from './schema/values.ts'

const MS_PER_SECOND = 1000
const TIMES = ['time', 'working']

/** Times in seconds; a kind that Inspect does not have is `custom`. */
export function toLimit({ type, limit }: { type: string; limit: number }) {
  const known = limitTypeSchema.safeParse(type)
  return {
    type: known.success ? known.data : ('custom' as const),
    limit: TIMES.includes(type) ? limit / MS_PER_SECOND : limit,
  }
}

export function fromLimit({ type, limit }: { type: string; limit: number }) {
  return { type, limit: TIMES.includes(type) ? limit * MS_PER_SECOND : limit }
}
