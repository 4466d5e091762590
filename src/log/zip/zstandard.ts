import * as zlib from 'node:zlib'
import { Decompress } from 'fzstd'

type Callback = (error: Error | null, result: Buffer) => void

/** What `node:zlib` has from Node 22.15 on. Source: nodejs.org/api/zlib.html */
interface Runtime {
  zstdCompress(bytes: Buffer, options: object, callback: Callback): void
  zstdDecompress(bytes: Buffer, options: object, callback: Callback): void
  readonly constants: Readonly<Record<string, number>>
}

/** Repeats are found as far apart as this: what a tool said is in three places of a sample. */
const WINDOW_LOG = 23
const LEVEL = 3
const OUTPUT_BYTES = 262_144

export interface Zstandard {
  pack(bytes: Buffer): Promise<Buffer>
  /** Rejects when it becomes more than `size` bytes, and where there are several frames. */
  unpack(bytes: Buffer, size: number): Promise<Buffer>
}

/** undefined: this runtime has none. */
export function zstandardOf(runtime: object): Zstandard | undefined {
  if (!('zstdCompress' in runtime)) return undefined
  const { zstdCompress, zstdDecompress, constants } = runtime as Runtime
  const named = (name: string) => constants[`ZSTD_c_${name}`] ?? 0
  const params = {
    [named('compressionLevel')]: LEVEL,
    [named('windowLog')]: WINDOW_LOG,
    [named('enableLongDistanceMatching')]: 1,
  }
  const settled = (run: (callback: Callback) => void) =>
    new Promise<Buffer>((resolve, reject) => {
      run((error, result) => (error ? reject(error) : resolve(result)))
    })
  return {
    pack: (bytes) =>
      settled((done) =>
        zstdCompress(bytes, { params, chunkSize: OUTPUT_BYTES, pledgedSrcSize: bytes.length }, done),
      ),
    unpack: (bytes, size) =>
      settled((done) =>
        zstdDecompress(
          bytes,
          { chunkSize: Math.min(OUTPUT_BYTES, Math.max(64, size + 1)), maxOutputLength: size + 1 },
          done,
        ),
      ),
  }
}

export const zstandard = zstandardOf(zlib)

/** Whatever the runtime has, and of several frames too. @throws Error when it becomes more than `size` bytes */
export async function unpackZstandard(raw: Buffer, size: number): Promise<Buffer> {
  const unpacked = await zstandard?.unpack(raw, size).catch(() => undefined)
  return unpacked?.length === size ? unpacked : unpackAnywhere(raw, size)
}

function unpackAnywhere(raw: Buffer, limit: number): Buffer {
  const chunks: Uint8Array[] = []
  let size = 0
  const stream = new Decompress((chunk) => {
    size += chunk.length
    if (size > limit) throw new Error('larger than it says')
    chunks.push(chunk)
  })
  stream.push(raw, true)
  return Buffer.concat(chunks)
}
