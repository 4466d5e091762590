import { ConfigError } from '../../../errors.ts'

/** One of several equal parts of a set, for as many machines. Counted from 1. */
export interface SetPart {
  readonly number: number
  readonly of: number
}

/** @throws ConfigError */
export function checkPart({ number, of }: SetPart): void {
  const isWhole = Number.isInteger(number) && Number.isInteger(of)
  if (isWhole && number >= 1 && number <= of) return
  throw new ConfigError(
    `expected a number from 1 up to the number of parts, such as 2 of 3, got ${number} of ${of}`,
    {
      where: 'part',
    },
  )
}

/** Those of a part: in the order of their keys every `of`th, so that parts are of one size and do not depend on the order in which tasks are named. */
export function ofPart<T extends { readonly key: string }>(
  tasks: readonly T[],
  part: SetPart | undefined,
): T[] {
  if (!part) return [...tasks]
  const keys = tasks.map(({ key }) => key).sort()
  return tasks.filter(({ key }) => keys.indexOf(key) % part.of === part.number - 1)
}
