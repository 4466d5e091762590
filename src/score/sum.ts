/** Arithmetic mean, never outside the range of the values, whatever the division rounds to; NaN over none. */
export function arithmeticMean(values: readonly number[]): number {
  let least = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  for (const value of values) {
    least = Math.min(least, value)
    greatest = Math.max(greatest, value)
  }
  return Math.min(greatest, Math.max(least, compensatedSum(values) / values.length))
}

/** Formula: A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, ZAMM 54 (1974). */
export function compensatedSum(values: readonly number[]): number {
  let sum = 0
  let compensation = 0
  for (const value of values) {
    const next = sum + value
    compensation += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum
    sum = next
  }
  return Number.isFinite(sum) ? sum + compensation : sum
}
