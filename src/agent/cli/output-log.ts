import type { Transcript } from '../transcript.ts'

const CHUNK = 16 * 1024
const QUIET_MS = 1000
const LOGGED_MAX = 4 * 1024 * 1024

export interface OutputLogOptions {
  readonly transcript: Transcript
  readonly source: string
  readonly stream: 'stdout' | 'stderr'
  /** How many characters of the end are kept for `text`. */
  readonly kept: number
}

/** Writes the output of a program to the log as it comes, some lines an event, and keeps its end. */
export class OutputLog {
  readonly #options: OutputLogOptions
  readonly #decoder = new TextDecoder()
  #held = ''
  #logged = 0
  #text = ''
  #timer: NodeJS.Timeout | undefined

  constructor(options: OutputLogOptions) {
    this.#options = options
  }

  get text(): string {
    return this.#text
  }

  /** Resolves at the end of the output. What breaks it off shows in how the program ended. */
  async read(output: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const bytes of output) this.#add(this.#decoder.decode(bytes, { stream: true }))
    } catch {
      // told by whoever waits for the program
    } finally {
      this.#add(this.#decoder.decode())
      this.#flush()
    }
  }

  #add(text: string): void {
    this.#held += text
    this.#text = (this.#text + text).slice(-this.#options.kept)
    if (this.#held.length >= CHUNK) this.#flush()
    else if (this.#held !== '') this.#timer ??= setTimeout(() => this.#flush(), QUIET_MS)
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const text = this.#held
    this.#held = ''
    if (text === '' || this.#logged > LOGGED_MAX) return
    this.#logged += text.length
    const rest = this.#logged > LOGGED_MAX ? '\n[what follows is not logged]' : ''
    const { transcript, source, stream } = this.#options
    transcript.record({ type: 'info', startedMs: Date.now(), source, data: { stream, text: text + rest } })
  }
}
