import { createHash } from 'node:crypto'
import type { ResolveContext } from '../provider.ts'
import type { SourceFiles } from './read/source-files.ts'
import type { ComposeInput, ResolvedCompose } from './resolve.ts'

export interface ResolveRequest {
  readonly input: ComposeInput
  readonly sources: SourceFiles
  readonly context: ResolveContext
  /** Links resolved. */
  readonly taskDirectory: string
  /** `SAMPLE_METADATA_` variables that the files use. */
  readonly variables: Readonly<Record<string, string>>
}

interface Entry {
  readonly resolution: Promise<ResolvedCompose>
  readonly controller: AbortController
  waiting: number
}

const MAX_ENTRIES = 10_000
const entries = new Map<string, Entry>()

/** A document made in code has another temporary name each time: its text and folder identify it. */
function cacheKey({ input, sources, context, taskDirectory, variables }: ResolveRequest): string {
  const texts = [...sources.texts].map(([path, text]) => {
    const index = input.files.indexOf(path)
    return [index < 0 ? path : index, text ?? null]
  })
  const parts = [input.directory, input.shown, taskDirectory, variables, context.allow ?? [], texts]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

function startEntry(key: string, resolveNow: (signal: AbortSignal) => Promise<ResolvedCompose>): Entry {
  const controller = new AbortController()
  const entry = { resolution: resolveNow(controller.signal), controller, waiting: 0 }
  if (entries.size >= MAX_ENTRIES) entries.clear()
  entries.set(key, entry)
  entry.resolution.catch(() => entries.delete(key))
  return entry
}

/** Ends the wait with the caller's signal, and the work itself when nobody waits for it any more. */
async function waitFor(key: string, entry: Entry, signal: AbortSignal | undefined): Promise<ResolvedCompose> {
  entry.waiting++
  let onAbort: () => void = () => undefined
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await (signal === undefined ? entry.resolution : Promise.race([entry.resolution, aborted]))
  } finally {
    signal?.removeEventListener('abort', onAbort)
    entry.waiting--
    if (signal?.aborted && entry.waiting === 0) {
      entries.delete(key)
      entry.controller.abort(signal.reason)
    }
  }
}

/** One resolution for all who ask for the same contents and variables, also at the same time; a failure is not kept. */
export async function cachedResolution(
  request: ResolveRequest,
  resolveNow: (signal: AbortSignal) => Promise<ResolvedCompose>,
): Promise<ResolvedCompose> {
  const { signal } = request.context
  signal?.throwIfAborted()
  const key = cacheKey(request)
  return waitFor(key, entries.get(key) ?? startEntry(key, resolveNow), signal)
}
