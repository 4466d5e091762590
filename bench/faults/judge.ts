import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SampleRecord } from '../../src/log/records/records.ts'

/** What the commands of one life of a sample have written when they started, by the name of that life, where its sandbox has a folder of the host for it. */
export type Marks = ReadonlyMap<string, readonly string[]>

export async function readMarks(folder: string): Promise<Marks> {
  const lives = (await readdir(folder)).filter((name) => name !== '.keep')
  const read = lives.map(async (life) => {
    const lines = (await readFile(join(folder, life), 'utf8')).split('\n').filter((line) => line !== '')
    return [life, lines] as const
  })
  return new Map(await Promise.all(read))
}

export type Verdict =
  /** It succeeded, its score is what the sandbox holds, and each of its commands ran once. */
  | { readonly kind: 'right' }
  /** Its sandbox failed, and so did those of all further attempts: no score, and it says so. */
  | { readonly kind: 'given up'; readonly why: string }
  | { readonly kind: 'wrong'; readonly why: string }

/** Judges what one record says. Its commands have looked themselves at what they and those before them left. */
export function judge({ status, error, scores }: SampleRecord): Verdict {
  if (status === 'error' && error?.kind === 'sandbox') return { kind: 'given up', why: error.message }
  if (status !== 'success') return wrong(`${status}: ${error?.kind} ${error?.code} ${error?.message}`)
  if (scores.intact?.value !== 1) return wrong(`its score is ${JSON.stringify(scores.intact?.value)}`)
  return { kind: 'right' }
}

function wrong(why: string): Verdict {
  return { kind: 'wrong', why }
}

/** Commands that started more often than once in one life. */
export function startedTwice(marks: Marks): number {
  return [...marks.values()].reduce((sum, lines) => sum + lines.length - new Set(lines).size, 0)
}
