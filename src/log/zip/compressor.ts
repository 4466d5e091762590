import { once } from 'node:events'
import { crc32, createDeflateRaw } from 'node:zlib'
import { type CompressedContent, LARGE_LEVEL, OUTPUT_BYTES } from './zip-writer.ts'

const BATCH_CHARACTERS = 262_144

/** Compresses text that comes in pieces; holds only the compressed form and one batch of text. */
export class Compressor {
  readonly #stream = createDeflateRaw({ level: LARGE_LEVEL, chunkSize: OUTPUT_BYTES })
  readonly #data: Buffer[] = []
  #text: string[] = []
  #characters = 0
  #crc = 0
  #size = 0

  constructor() {
    this.#stream.on('data', (chunk: Buffer) => this.#data.push(chunk))
  }

  async write(text: string): Promise<void> {
    this.#text.push(text)
    this.#characters += text.length
    if (this.#characters >= BATCH_CHARACTERS) await this.#pass()
  }

  /** After all text that came before. */
  async writeBytes(bytes: Buffer): Promise<void> {
    await this.#pass()
    await this.#passBytes(bytes)
  }

  async end(): Promise<CompressedContent> {
    await this.#pass()
    const ended = once(this.#stream, 'end')
    this.#stream.end()
    await ended
    return { data: this.#data, crc: this.#crc, size: this.#size }
  }

  async #pass(): Promise<void> {
    const bytes = Buffer.from(this.#text.join(''))
    this.#text = []
    this.#characters = 0
    await this.#passBytes(bytes)
  }

  async #passBytes(bytes: Buffer): Promise<void> {
    this.#crc = crc32(bytes, this.#crc)
    this.#size += bytes.length
    if (!this.#stream.write(bytes)) await once(this.#stream, 'drain')
  }
}
