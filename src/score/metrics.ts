/** A figure over the samples of an eval, from the score of each sample reduced over its epochs. */
export interface Metric {
  readonly name: string
  /** `values` holds one number per scored sample, in plan order. NaN over none. */
  compute(values: readonly number[]): number
}
