/** One message of the Engine's progress streams (build, pull). */
export interface ProgressLine {
  readonly id?: string
  readonly stream?: string
  readonly status?: string
  readonly aux?: unknown
  readonly error?: string
  readonly errorDetail?: { readonly code?: number; readonly message?: string }
}

async function* lines(stream: AsyncIterable<Buffer | string>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    rest += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    const complete = rest.split('\n')
    rest = complete.pop() ?? ''
    yield* complete
  }
  yield rest + decoder.decode()
}

function parsed<T>(line: string): T | undefined {
  try {
    return JSON.parse(line) as T
  } catch {
    return undefined
  }
}

/** The objects of a stream of JSON lines; what is no JSON is left out, a last line without its end counts. */
export async function* jsonLines<T>(stream: AsyncIterable<Buffer | string>): AsyncGenerator<T, void> {
  for await (const line of lines(stream)) {
    const value = line.trim() === '' ? undefined : parsed<T>(line)
    if (value !== undefined) yield value
  }
}

/** The messages of a progress stream; what is no JSON is passed on as text. */
export async function* progressLines(
  stream: AsyncIterable<Buffer | string>,
): AsyncGenerator<ProgressLine, void> {
  for await (const line of lines(stream)) {
    if (line.trim() !== '') yield parsed<ProgressLine>(line) ?? { stream: line }
  }
}
