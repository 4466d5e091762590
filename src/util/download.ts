import { BelljarError, errorMessage } from '../errors.ts'
import { sleep } from './abort.ts'

const ATTEMPTS = 4
const ATTEMPT_MS = 30_000
const MAX_BYTES = 1024 ** 3

export interface DownloadLimits {
  readonly signal?: AbortSignal | undefined
  /** Default 1 GiB. */
  readonly maxBytes?: number
}

/** Fetches a file over http or https; tries again on 429, 5xx and lost connections. @throws BelljarError `download-failed` */
export async function download(
  url: string,
  { signal, maxBytes = MAX_BYTES }: DownloadLimits = {},
): Promise<Uint8Array> {
  if (!/^https?:/.test(url))
    throw new BelljarError('download-failed', `cannot download ${url}: only http and https are supported`)
  for (let attempt = 1; ; attempt++) {
    try {
      const late = AbortSignal.timeout(ATTEMPT_MS)
      return await once(url, { signal: signal ? AbortSignal.any([signal, late]) : late, maxBytes })
    } catch (error) {
      const mayPass = !(error instanceof BelljarError) && attempt < ATTEMPTS
      if (signal?.aborted) throw error
      if (!mayPass)
        throw new BelljarError('download-failed', `cannot download ${url}: ${errorMessage(error)}`, {
          cause: error,
        })
      await sleep(500 * 2 ** attempt, signal)
    }
  }
}

async function once(url: string, { signal, maxBytes }: Required<DownloadLimits>): Promise<Uint8Array> {
  const response = await fetch(url, signal ? { signal } : {})
  if (response.status === 429 || response.status >= 500)
    throw new Error(`the server answered ${response.status}`)
  if (!response.ok) throw new BelljarError('download-failed', `the server answered ${response.status}`)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new BelljarError('download-failed', `larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
