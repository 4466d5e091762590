import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BelljarError, ConfigError } from '../../../src/errors.ts'
import { materialize } from '../../../src/sample/media.ts'
import { mediaTypeOf } from '../../../src/sample/media-type.ts'
import { PIXEL } from '../../support/log-kinds.ts'
import { tempDir } from '../../support/temp-dir.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')
const inline = { directory: '/' }

describe('what kind of file bytes are', () => {
  it.each([
    ['image/png', '\x89PNG\r\n\x1a\n...'],
    ['image/jpeg', '\xff\xd8\xff\xe0...'],
    ['image/gif', 'GIF89a...'],
    ['image/webp', 'RIFF....WEBPVP8 '],
    ['image/svg+xml', '<?xml version="1.0"?>\n<!-- a -->\n<svg xmlns="x"/>'],
    ['audio/wav', 'RIFF....WAVEfmt '],
    ['audio/mpeg', 'ID3\x04...'],
    ['audio/mpeg', '\xff\xfb\x90...'],
    ['audio/mp4', '\0\0\0\x18ftypM4A ...'],
    ['video/mp4', '\0\0\0\x18ftypisom...'],
    ['video/webm', '\x1aE\xdf\xa3...'],
    ['application/pdf', '%PDF-1.7...'],
    ['text/plain', 'Hello, <svg is no image here'],
    [undefined, '\x01\x02\0\x03'],
    [undefined, '\xc3'],
  ])('is told by their beginning: %s', (expected, content) => {
    expect(mediaTypeOf(bytes(content))).toBe(expected)
  })
})

describe('a media reference', () => {
  it('becomes base64 and the kind that its bytes tell, whatever it is called', async () => {
    await using directory = await tempDir()
    await writeFile(join(directory.path, 'picture.jpg'), Buffer.from(PIXEL, 'base64'))
    const part = await materialize(
      { type: 'image', path: 'picture.jpg', mediaType: 'image/jpeg', detail: 'high' },
      { directory: directory.path },
    )
    expect(part).toEqual({ type: 'image', data: PIXEL, mediaType: 'image/png', detail: 'high' })
  })

  it.each([
    ['base64 text', PIXEL],
    ['a data URI', `data:image/png;charset=x;base64,${PIXEL}`],
    ['bytes', Buffer.from(PIXEL, 'base64')],
  ])('may be %s', async (_what, data) => {
    expect(await materialize({ type: 'image', data }, inline)).toEqual({
      type: 'image',
      data: PIXEL,
      mediaType: 'image/png',
    })
  })

  it('takes a data URI of plain text, and a data URI as its address', async () => {
    const part = await materialize({ type: 'document', url: 'data:text/markdown,%23%20Title' }, inline)
    expect(part).toEqual({
      type: 'document',
      data: Buffer.from('# Title').toString('base64'),
      mediaType: 'text/markdown',
    })
  })

  it('is fetched from an address, up to what is allowed', async () => {
    const server = createServer(
      (_request, response) => void response.end(Buffer.from(PIXEL, 'base64')),
    ).listen(0)
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a`
    try {
      expect(await materialize({ type: 'image', url }, inline)).toMatchObject({
        data: PIXEL,
        mediaType: 'image/png',
      })
      const tooLarge = materialize({ type: 'image', url }, { ...inline, maxBytes: 10 })
      await expect(tooLarge).rejects.toThrow(/larger than 10 bytes/)
    } finally {
      server.close()
    }
  })

  it.each([
    ['another type', { type: 'image', data: bytes('%PDF-1.7') }, /no image: its content is application\/pdf/],
    ['no known kind', { type: 'audio', data: bytes('\x01\0') }, /no known kind; name its mediaType/],
    ['nothing', { type: 'document', data: bytes('') }, /empty/],
    ['no base64', { type: 'image', data: 'not base64!' }, /not base64/],
    ['a folder', { type: 'image', path: '/' }, /no file/],
  ] as const)('that is %s is refused', async (_what, reference, message) => {
    const refused = materialize(reference, inline)
    await expect(refused).rejects.toThrow(message)
    await expect(refused).rejects.toMatchObject({ code: 'media-refused' })
    await expect(refused).rejects.toBeInstanceOf(BelljarError)
  })

  it('of unknown bytes is what it is said to be', async () => {
    const data = bytes('\x01\0')
    const audio = await materialize({ type: 'audio', data, mediaType: 'audio/L16' }, inline)
    expect(audio.mediaType).toBe('audio/L16')
    expect((await materialize({ type: 'document', data }, inline)).mediaType).toBe('application/octet-stream')
  })

  it('to a file that is not there says which', async () => {
    const missing = materialize({ type: 'image', path: 'gone.png' }, { directory: '/nowhere' })
    await expect(missing).rejects.toThrow(/cannot read \/nowhere\/gone\.png/)
    await expect(missing).rejects.toBeInstanceOf(ConfigError)
  })
})
