import { arithmeticMean } from './sum.ts'

/** One number for a sample from those of its epochs: the mean over the epochs that were scored; null when none was. */
export function reduceEpochs(values: readonly (number | null)[]): number | null {
  const scored = values.filter((value) => value !== null && !Number.isNaN(value)) as number[]
  return scored.length === 0 ? null : arithmeticMean(scored)
}
