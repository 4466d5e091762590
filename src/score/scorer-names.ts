import type { Scorer } from './scorer.ts'

/** A scorer under the name that its scores have in an eval. */
export interface NamedScorer {
  readonly name: string
  readonly scorer: Scorer
}

/** Scorers under names that are all different; `taken` are names that none of them gets. */
export function namedScorers(scorers: readonly Scorer[], taken: readonly string[] = []): NamedScorer[] {
  const all = [...taken.map((name) => ({ name })), ...scorers]
  const names = uniqueScorerNames(all).slice(taken.length)
  return scorers.map((scorer, index) => ({ name: names[index] ?? scorer.name, scorer }))
}

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
