import type { Scorer } from './scorer.ts'

/** A name for each scorer, in order, all different: a repeated name gets the first free number, from 1 on, as its suffix. */
export function uniqueScorerNames(scorers: readonly Pick<Scorer, 'name'>[]): string[] {
  const given = new Set(scorers.map(({ name }) => name))
  const used = new Set<string>()
  return scorers.map(({ name }) => {
    let unique = name
    for (let suffix = 1; used.has(unique); suffix++) {
      const candidate = `${name}${suffix}`
      if (!given.has(candidate)) unique = candidate
    }
    used.add(unique)
    return unique
  })
}
