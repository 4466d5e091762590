/** One message of the Engine's progress streams (build, pull). */
export interface ProgressLine {
  readonly id?: string
  readonly stream?: string
  readonly status?: string
  readonly aux?: unknown
  readonly error?: string
  readonly errorDetail?: { readonly code?: number; readonly message?: string }
}

function parseLine(line: string): ProgressLine | undefined {
  if (line.trim() === '') return undefined
  try {
    return JSON.parse(line) as ProgressLine
  } catch {
    return { stream: line }
  }
}

/** The messages of a progress stream: a last line without its end counts, and what is no JSON is passed on as text. */
export async function* progressLines(
  stream: AsyncIterable<Buffer | string>,
): AsyncGenerator<ProgressLine, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const parsed = parseLine(line)
      if (parsed) yield parsed
    }
  }
  const last = parseLine(rest + decoder.decode())
  if (last) yield last
}
