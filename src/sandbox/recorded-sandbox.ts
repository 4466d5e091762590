import { BelljarError, errorMessage } from '../errors.ts'
import type { ExecOptions, ExecResult, Sandbox } from './sandbox.ts'

/** One call on a sandbox; sizes in bytes, times in milliseconds. Output is the last part only, for reading. */
export interface SandboxEvent {
  readonly type: 'sandbox-call'
  readonly startedMs: number
  readonly durationMs: number
  readonly service: string
  readonly action: SandboxAction
  /** argv of a command, path of a file call. */
  readonly command?: readonly string[]
  readonly path?: string
  readonly options?: Readonly<Record<string, unknown>>
  readonly exitCode?: number | null
  readonly output?: string
  readonly bytes?: number
  readonly error?: { readonly code: string; readonly message: string }
}

export type SandboxAction =
  | 'exec'
  | 'spawn'
  | 'read'
  | 'write'
  | 'upload'
  | 'download'
  | 'stat'
  | 'list'
  | 'remove'

const OUTPUT_SHOWN = 4096

interface CallFacts {
  readonly action: SandboxAction
  readonly command?: readonly string[]
  readonly path?: string
  readonly options?: Readonly<Record<string, unknown>>
}

type ResultFacts = Pick<SandboxEvent, 'exitCode' | 'output' | 'bytes'>

type Recorder = <T>(
  facts: CallFacts,
  call: () => Promise<T>,
  results?: (value: T) => ResultFacts,
) => Promise<T>

function recorder(service: string, options: RecordOptions): Recorder {
  const { record, closed } = options
  return async (facts, call, results) => {
    if (closed?.aborted)
      throw new BelljarError('sandbox-closed', 'the sandbox can no longer be used: the agent has ended')
    const startedMs = Date.now()
    const finish = (more: Partial<SandboxEvent> = {}) =>
      record({
        type: 'sandbox-call',
        startedMs,
        durationMs: Date.now() - startedMs,
        service,
        ...facts,
        ...more,
      })
    try {
      const value = await call()
      finish(results?.(value))
      return value
    } catch (error) {
      const code = error instanceof BelljarError ? error.code : 'error'
      finish({ error: { code, message: errorMessage(error) } })
      throw error
    }
  }
}

const byteCount = (content: string | Uint8Array) => ({ bytes: Buffer.byteLength(content) })

export interface RecordOptions {
  readonly record: (event: SandboxEvent) => void
  /** Once aborted, further calls throw: for the handle of an agent that has ended. */
  readonly closed?: AbortSignal
}

/** The same sandbox, with every call, failed ones included, told to `record`. */
export function recordedSandbox(sandbox: Sandbox, options: RecordOptions): Sandbox {
  const run = recorder(sandbox.service, options)
  return {
    service: sandbox.service,
    exec: (command, options) =>
      run(
        { action: 'exec', command, options: shownOptions(options) },
        () => sandbox.exec(command, options),
        execFacts,
      ),
    spawn: (command, options) => run({ action: 'spawn', command }, () => sandbox.spawn(command, options)),
    readFile: (path, options) =>
      run({ action: 'read', path }, () => sandbox.readFile(path, options), byteCount),
    readText: (path, options) =>
      run({ action: 'read', path }, () => sandbox.readText(path, options), byteCount),
    writeFile: (path, content, options) =>
      run(
        { action: 'write', path },
        () => sandbox.writeFile(path, content, options),
        () => byteCount(content),
      ),
    upload: (hostPath, path, options) =>
      run({ action: 'upload', path }, () => sandbox.upload(hostPath, path, options)),
    download: (path, hostPath, options) =>
      run({ action: 'download', path }, () => sandbox.download(path, hostPath, options)),
    stat: (path, options) => run({ action: 'stat', path }, () => sandbox.stat(path, options)),
    exists: (path, options) => run({ action: 'stat', path }, () => sandbox.exists(path, options)),
    list: (path, options) => run({ action: 'list', path }, () => sandbox.list(path, options)),
    remove: (path, options) => run({ action: 'remove', path }, () => sandbox.remove(path, options)),
    shellCommand: () => sandbox.shellCommand(),
  }
}

/** Environment values may be secrets: only their names are kept. */
function shownOptions(options: ExecOptions | undefined): Record<string, unknown> | undefined {
  if (options === undefined) return undefined
  const { cwd, user, timeoutMs, env, input } = options
  return {
    cwd,
    user,
    timeoutMs,
    env: env && Object.keys(env),
    inputBytes: input === undefined ? undefined : Buffer.byteLength(input),
  }
}

function execFacts(result: ExecResult): ResultFacts {
  const output = [result.stderr, result.stdout].filter((text) => text !== '').join('\n')
  return {
    exitCode: result.exitCode,
    output: output.slice(-OUTPUT_SHOWN),
    bytes: result.stdoutBytes + result.stderrBytes,
  }
}
