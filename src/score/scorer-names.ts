import type { Scorer } from './scorer.ts'

/** The scorers under names that are all different: a repeated name gets the first free number, from 1 on, as its suffix. */
export function uniqueScorers(scorers: readonly Scorer[]): Scorer[] {
  const names = uniqueNames(scorers.map(({ name }) => name))
  return scorers.map((scorer, index) => renamed(scorer, names[index] ?? scorer.name))
}

export function uniqueNames(names: readonly string[]): string[] {
  const given = new Set(names)
  const used = new Set<string>()
  return names.map((name) => {
    let unique = name
    for (let suffix = 1; used.has(unique); suffix++) {
      const candidate = `${name}${suffix}`
      if (!given.has(candidate)) unique = candidate
    }
    used.add(unique)
    return unique
  })
}

function renamed(scorer: Scorer, name: string): Scorer {
  if (scorer.name === name) return scorer
  return { name, metrics: scorer.metrics, score: (context) => scorer.score(context) }
}
