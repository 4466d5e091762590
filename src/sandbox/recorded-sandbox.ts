import { BelljarError, errorMessage, SandboxUnavailableError } from '../errors.ts'
import { stopwatch } from '../util/clock.ts'
import { recordedProcess } from './recorded-process.ts'
import type {
  ExecOptions,
  ExecResult,
  ReadOptions,
  Sandbox,
  SandboxProcess,
  SpawnOptions,
} from './sandbox.ts'

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
  | 'listen'

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
  return async (facts, call, results) => {
    const finish = begin(service, facts, options)
    try {
      const value = await call()
      finish(results?.(value))
      return value
    } catch (error) {
      finish({ error: errorFacts(error) })
      if (error instanceof SandboxUnavailableError) options.onUnavailable?.(error)
      throw error
    }
  }
}

/** Notes the start of a call; what is returned records its end. */
function begin(service: string, facts: CallFacts, { record, closed }: RecordOptions) {
  if (closed?.aborted)
    throw new BelljarError('sandbox-closed', 'the sandbox can no longer be used: the agent has ended')
  const time = stopwatch()
  return (more: Partial<SandboxEvent> = {}) =>
    record({
      type: 'sandbox-call',
      ...time(),
      service,
      ...facts,
      ...more,
    })
}

function errorFacts(error: unknown): NonNullable<SandboxEvent['error']> {
  const code = error instanceof BelljarError ? error.code : 'error'
  return { code, message: errorMessage(error) }
}

const byteCount = (content: string | Uint8Array) => ({ bytes: Buffer.byteLength(content) })

/** For calls that name none. */
export interface CallDefaults {
  readonly maxOutputBytes?: number | undefined
  readonly maxReadBytes?: number | undefined
}

export interface RecordOptions extends CallDefaults {
  readonly record: (event: SandboxEvent) => void
  /** Once aborted, further calls throw: for the handle of an agent that has ended. */
  readonly closed?: AbortSignal
  /** Told of each call that the sandbox could not serve, before its caller is. */
  readonly onUnavailable?: (error: SandboxUnavailableError) => void
}

/** The same sandbox, with every call, failed ones included, told to `record`. */
export function recordedSandbox(sandbox: Sandbox, recording: RecordOptions): Sandbox {
  const run = recorder(sandbox.service, recording)
  const output = (options?: ExecOptions) => withDefault(options, 'maxOutputBytes', recording.maxOutputBytes)
  const reading = (options?: ReadOptions) => withDefault(options, 'maxBytes', recording.maxReadBytes)
  return {
    service: sandbox.service,
    exec: (command, options) =>
      run(
        { action: 'exec', command, options: shownOptions(options) },
        () => sandbox.exec(command, output(options)),
        execFacts,
      ),
    spawn: (command, options) => recordedSpawn(sandbox, { command, options, recording }),
    readFile: (path, options) =>
      run({ action: 'read', path }, () => sandbox.readFile(path, reading(options)), byteCount),
    readText: (path, options) =>
      run({ action: 'read', path }, () => sandbox.readText(path, reading(options)), byteCount),
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
    listen: (onConnection, options) =>
      run({ action: 'listen', options: { ...(options?.port !== undefined && { port: options.port }) } }, () =>
        sandbox.listen(onConnection, options),
      ),
    shellCommand: () => sandbox.shellCommand(),
  }
}

function withDefault<Options, Key extends keyof Options>(
  options: Options | undefined,
  key: Key,
  value: Options[Key] | undefined,
): Options | undefined {
  if (value === undefined || options?.[key] !== undefined) return options
  return { ...options, [key]: value } as Options
}

/** Its event comes when the process has ended, or when nobody may look at it any more. */
async function recordedSpawn(
  sandbox: Sandbox,
  call: { command: readonly string[]; options: SpawnOptions | undefined; recording: RecordOptions },
): Promise<SandboxProcess> {
  const { command, options, recording } = call
  const facts = { action: 'spawn', command, options: shownOptions(options) } as const
  const finish = begin(sandbox.service, facts, recording)
  try {
    const process = await sandbox.spawn(command, options)
    return recordedProcess(process, { done: finish, closed: recording.closed })
  } catch (error) {
    finish({ error: errorFacts(error) })
    if (error instanceof SandboxUnavailableError) recording.onUnavailable?.(error)
    throw error
  }
}

/** Environment values may be secrets: only their names are kept. */
function shownOptions(
  options: (ExecOptions & SpawnOptions) | undefined,
): Record<string, unknown> | undefined {
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
