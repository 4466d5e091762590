import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What outlives a killed run may still be writing there for a moment. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }

/** A folder that is gone when it goes out of scope. */
export async function tempDir(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'belljar-test-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, REMOVAL) }
}
