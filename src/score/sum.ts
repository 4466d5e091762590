/**
 * Arithmetic mean with compensated summation; NaN over none.
 * Formula: A. Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, ZAMM 54 (1974).
 */
export function arithmeticMean(values: readonly number[]): number {
  return compensatedSum(values) / values.length
}

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
