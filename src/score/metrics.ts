import { arithmeticMean } from './sum.ts'
import { bootstrapStderr, clusteredVariance, sampleVariance } from './variance.ts'

/** A figure over the samples of an eval, from the score of each sample reduced over its epochs. */
export interface Metric {
  readonly name: string
  /** A field of the samples' metadata whose value `compute` gets with each number. */
  readonly key?: string
  /**
   * `values` holds the numbers of the scored samples, in plan order: one a sample, or one an epoch where epochs are not reduced; `keys` as
   * many values of the metadata field. NaN over none.
   */
  compute(values: readonly number[], keys?: readonly unknown[]): number
  /** Further figures, by what their name gets in brackets. */
  groups?(values: readonly number[], keys: readonly unknown[]): Readonly<Record<string, number>>
}

/** Share of what could be reached, for scores from 0 to 1: their arithmetic mean. */
export function accuracy(): Metric {
  return { name: 'accuracy', compute: arithmeticMean }
}

/** Arithmetic mean. */
export function mean(): Metric {
  return { name: 'mean', compute: arithmeticMean }
}

/** Sample variance (n - 1 in its divisor); NaN for fewer than two values. */
export function variance(): Metric {
  return { name: 'var', compute: sampleVariance }
}

/** Sample standard deviation; NaN for fewer than two values. */
export function std(): Metric {
  return { name: 'std', compute: (values) => Math.sqrt(sampleVariance(values)) }
}

/**
 * Standard error of the mean; NaN for fewer than two values. `cluster` names a metadata field: samples with one value of it may depend on
 * each other (questions about one text), which is taken into account.
 */
export function stderr(options: { readonly cluster?: string } = {}): Metric {
  const { cluster } = options
  if (cluster === undefined)
    return { name: 'stderr', compute: (values) => Math.sqrt(sampleVariance(values) / values.length) }
  return {
    name: 'stderr',
    key: cluster,
    compute: (values, keys = []) => Math.sqrt(clusteredVariance(values, keys)),
  }
}

/** Standard error of the mean by resampling, with a fixed seed: the same scores give the same figure. */
export function bootstrap(options: { readonly resamples?: number } = {}): Metric {
  const { resamples = 1000 } = options
  return { name: 'bootstrap_stderr', compute: (values) => bootstrapStderr(values, resamples) }
}

/** A metric over all samples and for each value of a metadata field: `accuracy`, `accuracy[easy]`, `accuracy[hard]`. */
export function grouped(metric: Metric, field: string): Metric {
  return {
    name: metric.name,
    key: field,
    compute: (values) => metric.compute(values),
    groups(values, keys) {
      const groups = new Map<string, number[]>()
      for (const [index, value] of values.entries()) {
        const group = String(keys[index])
        const members = groups.get(group)
        if (members) members.push(value)
        else groups.set(group, [value])
      }
      return Object.fromEntries([...groups].map(([group, members]) => [group, metric.compute(members)]))
    },
  }
}

/** What is computed for a scorer that names no metrics. */
export const DEFAULT_METRICS: readonly Metric[] = [accuracy(), stderr()]
