import { randomUUID } from 'node:crypto'
import { SandboxFileError } from '../errors.ts'
import type { ExecResult, Sandbox } from './sandbox.ts'

export interface ScriptOptions {
  /** What the script is, such as `setup`: a part of its file name in the sandbox. */
  readonly name: string
  /** Name, uid or uid:gid; default: the service's own user. */
  readonly user?: string
  /** Deadline in milliseconds; none means no deadline. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/**
 * Runs a script as a file of its own under /tmp, by its first line (`#!/bin/sh` when it has none), and removes the file.
 * A script that fails, or whose interpreter is missing (`launchError`), is a value.
 * @throws ExecTimeoutError, ExecAbortedError, SandboxFileError (it could not be written), SandboxUnavailableError
 */
export async function runScript(sandbox: Sandbox, text: string, options: ScriptOptions): Promise<ExecResult> {
  const { name, user, timeoutMs, signal } = options
  const path = `/tmp/belljar-${name}-${randomUUID()}`
  await sandbox.writeFile(path, withFirstLine(text), { mode: 0o700, user, signal })
  let result: ExecResult
  try {
    result = await sandbox.exec([path], { user, timeoutMs, signal })
  } catch (error) {
    await removeScript(sandbox, path, user).catch(() => undefined)
    throw error
  }
  await removeScript(sandbox, path, user)
  return result
}

function withFirstLine(text: string): string {
  return text.startsWith('#!') ? text : `#!/bin/sh\n${text}`
}

/** Not bound to the caller's signal, which may be why the script ended. What the script did to /tmp is its own affair. */
async function removeScript(sandbox: Sandbox, path: string, user: string | undefined): Promise<void> {
  try {
    await sandbox.remove(path, { user, force: true })
  } catch (error) {
    if (!(error instanceof SandboxFileError)) throw error
  }
}
