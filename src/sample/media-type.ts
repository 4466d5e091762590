const at = (bytes: Uint8Array, offset: number, text: string) =>
  Buffer.from(bytes.buffer, bytes.byteOffset + Math.min(offset, bytes.length)).toString(
    'latin1',
    0,
    text.length,
  ) === text && bytes.length >= offset + text.length

/** Signatures at the start of a file. WHATWG MIME Sniffing Standard, section 6, and the formats' own specifications. */
const SIGNATURES: readonly (readonly [mediaType: string, signature: string, offset?: number])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
  ['image/bmp', 'BM'],
  ['image/tiff', 'II*\0'],
  ['image/tiff', 'MM\0*'],
  ['image/avif', 'ftypavif', 4],
  ['image/heic', 'ftypheic', 4],
  ['audio/mpeg', 'ID3'],
  ['audio/flac', 'fLaC'],
  ['audio/ogg', 'OggS'],
  ['audio/mp4', 'ftypM4A ', 4],
  ['video/quicktime', 'ftypqt  ', 4],
  ['video/mp4', 'ftyp', 4],
  ['video/webm', '\x1aE\xdf\xa3'],
  ['video/mpeg', '\0\0\x01\xba'],
  ['video/mpeg', '\0\0\x01\xb3'],
  ['application/pdf', '%PDF-'],
  ['application/zip', 'PK\x03\x04'],
]

/** What kind of file the bytes are; undefined when they do not tell. */
export function mediaTypeOf(bytes: Uint8Array): string | undefined {
  if (at(bytes, 0, 'RIFF')) {
    if (at(bytes, 8, 'WEBP')) return 'image/webp'
    if (at(bytes, 8, 'WAVE')) return 'audio/wav'
    if (at(bytes, 8, 'AVI ')) return 'video/x-msvideo'
  }
  const known = SIGNATURES.find(([, signature, offset = 0]) => at(bytes, offset, signature))
  if (known) return known[0]
  // A frame of MPEG audio begins with eleven set bits.
  if (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0) return 'audio/mpeg'
  return textType(bytes)
}

const TEXT_LOOKED_AT = 4096

function textType(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).slice(0, TEXT_LOOKED_AT)
    return /^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<svg[\s>]/s.test(text)
      ? 'image/svg+xml'
      : 'text/plain'
  } catch {
    return undefined
  }
}
