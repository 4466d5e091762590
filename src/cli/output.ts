/** Where a command writes: machine output on stdout, all else on stderr. */
export interface Output {
  readonly json: (value: unknown) => void
  readonly line: (text: string) => void
  readonly isTerminal: boolean
}

export function processOutput(): Output {
  return {
    json: (value) => void process.stdout.write(`${JSON.stringify(value)}\n`),
    line: (text) => void process.stderr.write(`${text}\n`),
    isTerminal: process.stderr.isTTY === true,
  }
}
