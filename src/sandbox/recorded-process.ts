import type { SandboxProcess } from './sandbox.ts'

/** What became of a process as far as it was seen; no exit code where it still ran, or could not be waited for. */
export interface ProcessFacts {
  readonly exitCode?: number | null
  /** Output that was read. */
  readonly bytes: number
}

/** The same process, of which `done` is told once: when it has ended, or when its handle is closed. */
export function recordedProcess(
  process: SandboxProcess,
  options: { done: (facts: ProcessFacts) => void; closed?: AbortSignal | undefined },
): SandboxProcess {
  const { done, closed } = options
  let bytes = 0
  let told = false
  const tell = (facts: Omit<ProcessFacts, 'bytes'> = {}) => {
    if (told) return
    told = true
    closed?.removeEventListener('abort', close)
    done({ ...facts, bytes })
  }
  const close = () => tell()
  closed?.addEventListener('abort', close, { once: true })
  process.wait().then(({ exitCode }) => tell({ exitCode }), close)
  const count = (chunk: Uint8Array) => {
    bytes += chunk.length
  }
  return {
    get pid() {
      return process.pid
    },
    stdout: counted(process.stdout, count),
    stderr: counted(process.stderr, count),
    write: (data) => process.write(data),
    closeStdin: () => process.closeStdin(),
    resize: (columns, rows) => process.resize(columns, rows),
    kill: (killOptions) => process.kill(killOptions),
    wait: () => process.wait(),
  }
}

function counted(
  output: AsyncIterable<Uint8Array>,
  count: (chunk: Uint8Array) => void,
): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      for await (const chunk of output) {
        count(chunk)
        yield chunk
      }
    },
  }
}
