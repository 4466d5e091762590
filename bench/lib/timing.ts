export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** The value that so much of the sorted values is not above. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN
}

/** Runs work so often, at most so many at a time. */
export async function pooled(
  count: number,
  concurrency: number,
  work: () => Promise<unknown>,
): Promise<void> {
  let begun = 0
  const worker = async () => {
    while (begun < count) {
      begun += 1
      await work()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}
