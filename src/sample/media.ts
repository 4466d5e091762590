import { readFile, stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { BelljarError, ConfigError, errorMessage } from '../errors.ts'
import { download } from '../util/download.ts'
import type { Content, ContentPart, MediaPart } from './content.ts'
import type { Input, MediaReference } from './input.ts'
import { mediaTypeOf } from './media-type.ts'

/** More than any provider takes in one part. */
export const MAX_MEDIA_BYTES = 50 * 1024 ** 2

export interface MaterializeOptions {
  /** Folder that relative paths start at. */
  readonly directory: string
  readonly signal?: AbortSignal
  /** Default 50 MiB. */
  readonly maxBytes?: number
}

/** Every reference of an input with its bytes at hand. @throws BelljarError `media-refused`; ConfigError for a file that cannot be read */
export async function materializeInput(input: Input, options: MaterializeOptions): Promise<Content> {
  if (typeof input === 'string') return input
  const parts: ContentPart[] = []
  for (const part of input) parts.push(part.type === 'text' ? part : await materialize(part, options))
  return parts
}

/** The bytes of a reference and what kind they are, told by the bytes themselves. @throws BelljarError, ConfigError */
export async function materialize(
  reference: MediaReference,
  options: MaterializeOptions,
): Promise<MediaPart> {
  const { type, path, url, detail, filename } = reference
  const where = path ?? url ?? `${type} given inline`
  const { maxBytes = MAX_MEDIA_BYTES } = options
  const { bytes, said } = await bytesOf(reference, options)
  if (bytes.length > maxBytes) throw refused(where, `larger than ${maxBytes} bytes`)
  if (bytes.length === 0) throw refused(where, 'empty')
  const mediaType = kindOf(bytes, { type, said, where })
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  const name = filename ?? (path === undefined ? undefined : basename(path))
  if (type === 'image') return { type, data, mediaType, ...(detail ? { detail } : {}) }
  if (type === 'document') return { type, data, mediaType, ...(name ? { filename: name } : {}) }
  return { type, data, mediaType }
}

interface Claim {
  readonly type: MediaPart['type']
  readonly said: string | undefined
  readonly where: string
}

/** What the bytes are decides; what was said of them counts only where they tell nothing. */
function kindOf(bytes: Uint8Array, { type, said, where }: Claim): string {
  const found = mediaTypeOf(bytes)
  if (type === 'document')
    return found === 'text/plain' && said ? said : (found ?? said ?? 'application/octet-stream')
  const [, container = ''] = /^(?:audio|video)\/(mp4|webm|ogg)$/.exec(found ?? '') ?? []
  if (container !== '' && type !== 'image') return `${type}/${container}`
  const kind = found ?? said
  if (kind?.startsWith(`${type}/`)) return kind
  throw refused(where, `no ${type}: its content is ${found ?? 'of no known kind; name its mediaType'}`)
}

async function bytesOf(
  { path, url, data, mediaType }: MediaReference,
  { directory, signal, maxBytes = MAX_MEDIA_BYTES }: MaterializeOptions,
): Promise<{ bytes: Uint8Array; said: string | undefined }> {
  if (path !== undefined)
    return { bytes: await readUpTo(resolve(directory, path), maxBytes), said: mediaType }
  if (url !== undefined && !url.startsWith('data:'))
    return { bytes: await download(url, { signal, maxBytes }), said: mediaType }
  const given = data ?? url ?? ''
  if (typeof given !== 'string') return { bytes: given, said: mediaType }
  const uri = /^data:([^;,]*)(?:;[^;,=]+=[^;,]*)*(;base64)?,(.*)$/s.exec(given)
  const [, inUri = '', isBase64, body = ''] = uri ?? ['', '', ';base64', given]
  const said = mediaType ?? (inUri === '' ? undefined : inUri)
  if (!isBase64) return { bytes: Buffer.from(decodeURIComponent(body)), said }
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(body)) throw refused('inline data', 'not base64')
  return { bytes: Buffer.from(body, 'base64'), said }
}

async function readUpTo(path: string, maxBytes: number): Promise<Uint8Array> {
  try {
    const found = await stat(path)
    if (!found.isFile()) throw refused(path, 'no file')
    if (found.size > maxBytes) throw refused(path, `larger than ${maxBytes} bytes`)
    return await readFile(path)
  } catch (error) {
    if (error instanceof BelljarError) throw error
    throw new ConfigError(`cannot read ${path}: ${errorMessage(error)}`, { where: 'input', cause: error })
  }
}

function refused(where: string, why: string): BelljarError {
  return new BelljarError('media-refused', `${where} is ${why}`)
}
