import { toJson } from '../../log/journal/jsonl.ts'

/** Where a command writes: machine output on stdout, all else on stderr. */
export interface Output {
  readonly json: (value: unknown) => void
  readonly line: (text: string) => void
  readonly isTerminal: boolean
}

/** A reader that goes away, such as `head`, ends the output and not the run: its log is complete all the same. */
function survivesItsReader(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  if (stream.listenerCount('error') === 0) stream.on('error', () => stream.destroy())
  return stream
}

export function processOutput(): Output {
  survivesItsReader(process.stdout)
  survivesItsReader(process.stderr)
  return {
    json: (value) => write(process.stdout, `${toJson(value)}\n`),
    line: (text) => write(process.stderr, `${text}\n`),
    isTerminal: process.stderr.isTTY === true,
  }
}

function write(stream: NodeJS.WriteStream, text: string): void {
  if (!stream.destroyed) stream.write(text)
}
