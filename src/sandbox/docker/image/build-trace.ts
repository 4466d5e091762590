import protobuf from 'protobufjs'

const TEXT = (id: number) => ({ type: 'string', id })

/** The parts of moby.buildkit.v1.StatusResponse that tell which step said what. */
const StatusResponse = protobuf.Root.fromJSON({
  nested: {
    StatusResponse: {
      fields: {
        vertexes: { rule: 'repeated', type: 'Vertex', id: 1 },
        logs: { rule: 'repeated', type: 'VertexLog', id: 3 },
      },
    },
    Vertex: { fields: { digest: TEXT(1), name: TEXT(3), error: TEXT(7) } },
    VertexLog: { fields: { vertex: TEXT(1), msg: { type: 'bytes', id: 4 } } },
  },
}).lookupType('StatusResponse')

interface Status {
  readonly vertexes: readonly { digest: string; name: string; error: string }[]
  readonly logs: readonly { vertex: string; msg: string }[]
}

const LINES_KEPT = 30

/** Steps of a build and the last lines of each, from BuildKit's traces or the legacy builder's text. */
export class BuildTrace {
  readonly #names = new Map<string, string>()
  readonly #lines = new Map<string, string[]>()
  #failed: string | undefined
  #legacyStep = ''

  /** `data`: the base64 text of an aux frame with the id `moby.buildkit.trace`. @throws Error when it is none */
  addBuildkit(data: string): void {
    const message = StatusResponse.decode(Buffer.from(data, 'base64'))
    const status = StatusResponse.toObject(message, { bytes: String, arrays: true, defaults: true }) as Status
    for (const { digest, name, error } of status.vertexes) {
      this.#names.set(digest, name)
      if (error && !error.endsWith('context canceled')) this.#failed ??= digest
    }
    for (const { vertex, msg } of status.logs) this.#append(vertex, Buffer.from(msg, 'base64').toString())
  }

  /** A `stream` line of the legacy builder; `Step 2/3 : RUN ...` begins a step. */
  addLegacy(text: string): void {
    const step = /^Step \d+\/\d+ : (.*)/.exec(text)
    if (step) {
      this.#legacyStep = step[0]
      this.#names.set(this.#legacyStep, this.#legacyStep)
    } else if (!text.startsWith(' ---> ')) {
      this.#append(this.#legacyStep, text)
    }
  }

  /** The failing step and its last lines, or as much of that as was seen. */
  describeFailure(): string {
    const step = this.#failed ?? this.#legacyStep
    const name = this.#names.get(step)
    const lines = (this.#lines.get(step) ?? []).filter((line) => line !== '').slice(-LINES_KEPT)
    const output = lines.map((line) => `  | ${line}`).join('\n')
    return [name && `failing step: ${name}`, output].filter(Boolean).join('\n')
  }

  #append(step: string, text: string): void {
    const lines = this.#lines.get(step) ?? ['']
    const [first = '', ...more] = text.replaceAll('\r', '\n').split('\n')
    lines[lines.length - 1] += first
    lines.push(...more)
    this.#lines.set(step, lines.slice(-LINES_KEPT - 1))
  }
}
