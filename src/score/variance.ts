import { arithmeticMean, compensatedSum } from './sum.ts'

/**
 * Sample variance, with n - 1 in its divisor; NaN for fewer than two values. The corrected two-pass algorithm of Chan, Golub, LeVeque,
 * Algorithms for computing the sample variance, Am. Stat. 37 (1983), eq. 1.7.
 */
export function sampleVariance(values: readonly number[]): number {
  const count = values.length
  if (count < 2) return Number.NaN
  const center = arithmeticMean(values)
  const deviations = values.map((value) => value - center)
  const squares = compensatedSum(deviations.map((deviation) => deviation ** 2))
  const correction = compensatedSum(deviations) ** 2 / count
  return Math.max(0, squares - correction) / (count - 1)
}

/**
 * Variance of the mean of values that depend on each other within a cluster: the sums of the deviations of each cluster, squared, with the
 * correction g / (g - 1) for g clusters (Liang, Zeger, Longitudinal data analysis using generalized linear models, Biometrika 73 (1986)).
 */
export function clusteredVariance(values: readonly number[], clusters: readonly unknown[]): number {
  const center = arithmeticMean(values)
  const sums = new Map<unknown, number>()
  for (const [index, value] of values.entries()) {
    const cluster = clusters[index]
    sums.set(cluster, (sums.get(cluster) ?? 0) + value - center)
  }
  if (sums.size < 2) return Number.NaN
  const squares = compensatedSum([...sums.values()].map((sum) => sum ** 2))
  return (squares / values.length ** 2) * (sums.size / (sums.size - 1))
}

export function bootstrapStderr(values: readonly number[], resamples: number): number {
  if (values.length < 2) return Number.NaN
  const random = generator()
  const means = Array.from({ length: resamples }, () =>
    arithmeticMean(values.map(() => values[Math.floor(random() * values.length)] ?? Number.NaN)),
  )
  return Math.sqrt(sampleVariance(means))
}

/** Numbers from 0 to 1, always the same (mulberry32). */
function generator(): () => number {
  let state = 0x9e3779b9
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}
