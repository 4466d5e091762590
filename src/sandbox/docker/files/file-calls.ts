import { randomBytes } from 'node:crypto'
import { ExecAbortedError, ExecTimeoutError, SandboxFileError } from '../../../errors.ts'
import type {
  ExecResult,
  FileEntry,
  FileStat,
  FileType,
  ReadOptions,
  RemoveOptions,
  UserOptions,
  WriteOptions,
} from '../../sandbox.ts'
import { DEFAULT_MAX_READ_BYTES } from '../../sandbox.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import type { Commands } from '../exec/commands.ts'
import { type RunOptions, runCommand } from '../exec/run-command.ts'
import { scriptPath } from './path.ts'
import { type FileScript, KIND_BY_EXIT_CODE, scriptCommand } from './scripts.ts'

/** No file call of belljar's takes longer, whatever the file is. */
export const FILE_DEADLINE_MS = 600_000

/** By the upper four bits of the mode. */
const TYPE_BY_FORMAT: Readonly<Record<number, FileType>> = {
  1: 'fifo',
  2: 'device',
  4: 'directory',
  6: 'device',
  8: 'file',
  10: 'link',
  12: 'socket',
}

const MESSAGES: Readonly<Record<string, string>> = {
  'not-found': 'no such file or directory',
  permission: 'permission denied',
  'is-a-directory': 'is a directory',
  'not-a-regular-file': 'is not a regular file',
  'too-large': 'is too large',
  'not-a-directory': 'a part of it, or it itself, is not a directory',
  'no-space': 'no space left',
  'read-only': 'the file system is read-only',
}

export interface FileContext {
  readonly container: ContainerRef
  readonly commands: Commands
}

interface ScriptRun extends UserOptions {
  readonly path: string
  readonly args?: readonly (string | number)[]
  readonly run?: Partial<RunOptions>
}

/** Runs one of the file scripts as the acting user. @throws SandboxFileError by the script's exit code */
export async function runFileScript(
  context: FileContext,
  script: FileScript,
  call: ScriptRun,
): Promise<ExecResult> {
  const { path, args = [], user, signal, run } = call
  const { container, commands } = context
  const argv = scriptCommand(script, [scriptPath(path, container.service), ...args])
  let result: ExecResult
  try {
    result = await runCommand(container, argv, {
      ...run,
      commands,
      timeoutMs: FILE_DEADLINE_MS,
      ...(user !== undefined && { user }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (!(error instanceof ExecTimeoutError)) throw error
    throw fileError(context, { path, exitCode: null, detail: `not done in ${FILE_DEADLINE_MS / 1000} s` })
  }
  if (result.exitCode === 0) return result
  const detail = result.launchError?.message ?? result.stderr.trim().slice(0, 500)
  throw fileError(context, { path, exitCode: result.exitCode, detail })
}

export function fileError(
  { container }: FileContext,
  data: { path: string; exitCode: number | null; detail: string },
): SandboxFileError {
  const kind = KIND_BY_EXIT_CODE[data.exitCode ?? -1] ?? 'other'
  const what = MESSAGES[kind] ?? 'the file call failed'
  const detail = kind === 'other' || kind === 'too-large' ? ` (${data.detail})` : ''
  return new SandboxFileError(`${data.path}: ${what}${detail}`, {
    kind,
    path: data.path,
    service: container.service,
  })
}

export async function readFile(
  context: FileContext,
  path: string,
  options: ReadOptions,
): Promise<Uint8Array> {
  const { maxBytes = DEFAULT_MAX_READ_BYTES, offset = 0, length } = options
  const { stdout, truncated } = await readRaw(context, path, { ...options, maxBytes, offset, length })
  if (!truncated) return stdout
  throw fileError(context, { path, exitCode: 64, detail: `over ${maxBytes} bytes` })
}

async function readRaw(
  context: FileContext,
  path: string,
  options: ReadOptions & { maxBytes: number; offset: number; length: number | undefined },
): Promise<{ stdout: Uint8Array; truncated: boolean }> {
  const { maxBytes, offset, length } = options
  const result = await runFileScript(context, 'read', {
    ...options,
    path,
    args: [offset, length ?? -1, maxBytes],
    run: { raw: true, maxOutputBytes: maxBytes },
  }).catch((error: unknown) => {
    if (!(error instanceof SandboxFileError) || error.kind !== 'too-large') throw error
    throw fileError(context, { path, exitCode: 64, detail: `over ${maxBytes} bytes` })
  })
  return { stdout: result.raw?.stdout ?? new Uint8Array(), truncated: result.stdoutBytes > maxBytes }
}

export async function writeFile(
  context: FileContext,
  path: string,
  call: WriteOptions & { content: string | Uint8Array },
): Promise<void> {
  const { content, mode, append = false } = call
  if (call.replace) await replaced(context, path, { ...call, isFolder: false })
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const nonce = randomBytes(8).toString('hex')
  const args = [mode === undefined ? '' : mode.toString(8), append ? 1 : 0, bytes.length, nonce]
  try {
    await runFileScript(context, 'write', { ...call, path, args, run: { input: bytes } })
  } catch (error) {
    if (error instanceof ExecAbortedError && !(await discarded(context, path, { ...call, nonce }))) {
      throw new ExecAbortedError(`${error.message}, and what it had written by then may be left`, error)
    }
    throw error
  }
}

/** Takes away what must not be followed or kept. */
export async function replaced(
  context: FileContext,
  path: string,
  { user, signal, isFolder }: UserOptions & { isFolder: boolean },
): Promise<void> {
  const call = { path: path.replace(/\/+$/, ''), args: [isFolder ? 1 : 0] }
  await runFileScript(context, 'unlink', {
    ...call,
    ...(user !== undefined && { user }),
    ...(signal && { signal }),
  })
}

/** An interrupted write was killed, so it could not remove its temporary file. */
function discarded(
  context: FileContext,
  path: string,
  call: UserOptions & { nonce: string },
): Promise<boolean> {
  const { nonce, user } = call
  return runFileScript(context, 'discard', { path, args: [nonce], ...(user !== undefined && { user }) }).then(
    () => true,
    () => false,
  )
}

function typeAndMode(rawMode: number): { type: FileType; mode: number } {
  return { type: TYPE_BY_FORMAT[rawMode >> 12] ?? 'device', mode: rawMode & 0o7777 }
}

export async function statFile(context: FileContext, path: string, options: UserOptions): Promise<FileStat> {
  const { stdout } = await runFileScript(context, 'stat', { ...options, path })
  const [rawMode = '', size, uid, gid, seconds] = stdout.trim().split(' ')
  return {
    ...typeAndMode(Number.parseInt(rawMode, 16)),
    size: Number(size),
    uid: Number(uid),
    gid: Number(gid),
    modifiedMs: Number(seconds) * 1000,
  }
}

export async function fileExists(context: FileContext, path: string, options: UserOptions): Promise<boolean> {
  try {
    await statFile(context, path, options)
    return true
  } catch (error) {
    const absent =
      error instanceof SandboxFileError && (error.kind === 'not-found' || error.kind === 'not-a-directory')
    if (absent) return false
    throw error
  }
}

/** Names, an empty name, then a line of facts for each; after a further empty name once more, one by one. */
export function parseListing(output: string): FileEntry[] {
  const [namesPart = '', ...factParts] = output.split('\0\0')
  const facts = (factParts.join('\0\0').split('\0').at(-1) ?? '').split('\n')
  const entries: FileEntry[] = []
  for (const [index, name] of namesPart.split('\0').entries()) {
    const [rawMode = '', size] = (facts[index] ?? 'gone').split(' ')
    if (name === '' || rawMode === 'gone' || rawMode === '') continue
    entries.push({
      name: name.slice(2),
      ...typeAndMode(Number.parseInt(rawMode, 16)),
      size: Number(size),
    })
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

export async function listFiles(
  context: FileContext,
  path: string,
  options: UserOptions,
): Promise<FileEntry[]> {
  const { stdout } = await runFileScript(context, 'list', {
    ...options,
    path,
    run: { maxOutputBytes: DEFAULT_MAX_READ_BYTES },
  })
  return parseListing(stdout)
}

export async function removeFile(context: FileContext, path: string, options: RemoveOptions): Promise<void> {
  const { recursive = false, force = false } = options
  const plain = path.replace(/\/+$/, '')
  if (plain === '' || /(^|\/)\.{1,2}$/.test(plain)) {
    throw new SandboxFileError(`${JSON.stringify(path)} cannot be removed`, {
      kind: 'invalid-path',
      path,
      service: context.container.service,
    })
  }
  await runFileScript(context, 'remove', {
    ...options,
    path: plain,
    args: [recursive ? 1 : 0, force ? 1 : 0],
  })
}
