import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ConfigError, errorMessage } from '../../../errors.ts'
import { totalsSchema } from '../../../log/records/records.ts'
import { writeAtomically } from '../../../util/write-atomically.ts'
import type { SetPart } from '../plan/set-part.ts'

/** Version of the manifest's format (docs/eval-sets.md). */
const MANIFEST_VERSION = 1

/**
 * `waiting`: not begun; `running`: an attempt is under way, or was when its process was killed; `again`: it failed and is tried again;
 * `failed`: trying again is of no use, or attempts are used up; `stopped`: somebody ended it.
 */
export const taskStateSchema = z.enum(['waiting', 'running', 'again', 'complete', 'failed', 'stopped'])
export type SetTaskState = z.infer<typeof taskStateSchema>

export const manifestTaskSchema = z.object({
  key: z.string(),
  id: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  model: z.string().optional(),
  state: taskStateSchema,
  /** Name of its best log in the folder. */
  log: z.string().optional(),
  /** Attempts that the last process has made. */
  attempts: z.number(),
  totals: totalsSchema.optional(),
  /** Why it is not complete. */
  why: z.string().optional(),
})
export type ManifestTask = z.infer<typeof manifestTaskSchema>

export const manifestSchema = z.object({
  belljarSet: z.literal(MANIFEST_VERSION),
  /** Id of the set, in the header of each of its logs. */
  set: z.string(),
  part: z.object({ number: z.number(), of: z.number() }).optional(),
  updatedAt: z.iso.datetime(),
  tasks: z.array(manifestTaskSchema),
})
export type SetManifest = z.infer<typeof manifestSchema>

/** Of the whole set, or of a part: `belljar-set.json`, `belljar-set.2-of-3.json`. */
export function manifestName(part: SetPart | undefined): string {
  return part ? `belljar-set.${part.number}-of-${part.of}.json` : 'belljar-set.json'
}

/** undefined: there is none. @throws ConfigError for one that cannot be read */
export async function readManifest(
  logDir: string,
  part: SetPart | undefined,
): Promise<SetManifest | undefined> {
  const path = join(logDir, manifestName(part))
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new ConfigError(`cannot be read: ${errorMessage(error)}`, { where: path, cause: error })
  })
  if (text === undefined) return undefined
  try {
    return manifestSchema.parse(JSON.parse(text))
  } catch (error) {
    const what = error instanceof z.ZodError ? z.prettifyError(error) : errorMessage(error)
    throw new ConfigError(
      `no manifest of a set that this version knows: ${what}; remove it, and the set makes it anew from the logs`,
      { where: path, cause: error },
    )
  }
}

/** @throws ConfigError */
export async function writeManifest(
  logDir: string,
  manifest: Omit<SetManifest, 'belljarSet' | 'updatedAt'>,
): Promise<void> {
  const path = join(logDir, manifestName(manifest.part))
  const { set, part, tasks } = manifest
  const whole: SetManifest = {
    belljarSet: MANIFEST_VERSION,
    set,
    part,
    updatedAt: new Date().toISOString(),
    tasks,
  }
  try {
    await writeAtomically(path, `${JSON.stringify(whole, null, 2)}\n`)
  } catch (error) {
    throw new ConfigError(`cannot write the manifest: ${errorMessage(error)}`, { where: path, cause: error })
  }
}
