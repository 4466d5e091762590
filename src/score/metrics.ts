import { arithmeticMean, compensatedSum } from './sum.ts'

/** A figure over the samples of an eval, from the score of each sample reduced over its epochs. */
export interface Metric {
  readonly name: string
  /** `values` holds one number per scored sample, in plan order. NaN over none. */
  compute(values: readonly number[]): number
}

/** Share of what could be reached, for scores from 0 to 1: their arithmetic mean. */
export function accuracy(): Metric {
  return { name: 'accuracy', compute: arithmeticMean }
}

/** Arithmetic mean. */
export function mean(): Metric {
  return { name: 'mean', compute: arithmeticMean }
}

/**
 * Standard error of the mean, s / sqrt(n) with the sample standard deviation s (n - 1 in its divisor); NaN for fewer than two values.
 * Formula: the corrected two-pass algorithm of Chan, Golub, LeVeque, Algorithms for computing the sample variance, Am. Stat. 37 (1983), eq. 1.7.
 */
export function stderr(): Metric {
  return {
    name: 'stderr',
    compute(values) {
      const count = values.length
      if (count < 2) return Number.NaN
      const center = arithmeticMean(values)
      const deviations = values.map((value) => value - center)
      const squares = compensatedSum(deviations.map((deviation) => deviation ** 2))
      const correction = compensatedSum(deviations) ** 2 / count
      return Math.sqrt(Math.max(0, squares - correction) / (count - 1) / count)
    },
  }
}

/** What is computed for a scorer that names no metrics. */
export const DEFAULT_METRICS: readonly Metric[] = [accuracy(), stderr()]
