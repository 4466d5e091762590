import { settles } from './shell.ts'

/** All that a stream gives until its end. */
export async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Reads a stream as text while it comes. */
export class LiveText {
  /** All that was read so far. */
  all = ''
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #decoder = new TextDecoder()
  #seen = 0

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** Reads on until the text has come, and passes over it. */
  async until(text: string): Promise<void> {
    for (;;) {
      const at = this.all.indexOf(text, this.#seen)
      if (at >= 0) {
        this.#seen = at + text.length
        return
      }
      if (!(await this.#more()))
        throw new Error(`expected ${JSON.stringify(text)}, the output was ${JSON.stringify(this.all)}`)
    }
  }

  /** What comes until the end after what `until` passed over. */
  async rest(): Promise<string> {
    while (await this.#more());
    return this.all.slice(this.#seen)
  }

  async #more(): Promise<boolean> {
    const next = await settles('reading live output', this.#chunks.next())
    this.all += next.done ? this.#decoder.decode() : this.#decoder.decode(next.value, { stream: true })
    return !next.done
  }
}
