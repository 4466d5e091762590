import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'
import { ConfigError } from '../../../errors.ts'
import { type ComposeCommand, composeCommand } from './plugin.ts'

export const PROJECT_NAME = 'belljar'

const DEADLINE_MS = 60_000
/** A thousand samples with metadata of their own must not be a thousand processes at once. */
const processes = new PQueue({ concurrency: 2 * availableParallelism() })

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

export interface ConfigCall {
  readonly files: readonly string[]
  /** Folder of relative paths and of `.env`; the command runs there, so that the user's own folder has no say. */
  readonly directory: string
  /** The only variables that the files see beside `.env` and PWD. */
  readonly variables: Readonly<Record<string, string>>
  readonly envFiles?: readonly string[]
  readonly signal?: AbortSignal
}

export interface ConfigOutput {
  readonly text: string
  readonly unset: readonly string[]
  readonly warnings: readonly string[]
}

/** What Compose said instead of a result; `message` is its own text. */
export class ComposeRejection extends Error {
  readonly unset: readonly string[]

  constructor(message: string, unset: readonly string[]) {
    super(message)
    this.name = 'ComposeRejection'
    this.unset = unset
  }
}

const LOG_LINE = /^time="[^"]*" level=(\w+) msg="((?:[^"\\]|\\.)*)"/
const UNSET = /^The "([^"]+)" variable is not set\. Defaulting to a blank string\.$/
/** Said of `version:`, which is in a fifth of all files and changes nothing. */
const OBSOLETE = /the attribute `version` is obsolete/

interface Messages {
  readonly unset: string[]
  readonly warnings: string[]
  readonly others: string[]
}

/** Compose writes log lines and its error to one stream. */
export function readMessages(stderr: string): Messages {
  const messages: Messages = { unset: [], warnings: [], others: [] }
  for (const line of stderr.split('\n')) {
    const match = LOG_LINE.exec(line)
    const said = match?.[2]?.replace(/\\(.)/g, '$1')
    const variable = UNSET.exec(said ?? '')?.[1]
    if (variable !== undefined) messages.unset.push(variable)
    else if (said === undefined) messages.others.push(line)
    else if (match?.[1] !== 'warning') messages.others.push(said)
    else if (!OBSOLETE.test(said)) messages.warnings.push(said)
  }
  return { ...messages, unset: [...new Set(messages.unset)] }
}

/** @throws ComposeRejection with Compose's own message; ConfigError where Compose is missing or does not answer */
export async function runConfig(call: ConfigCall, output: readonly string[]): Promise<ConfigOutput> {
  call.signal?.throwIfAborted()
  const command = await composeCommand()
  return processes.add(() => runOne(command, call, output), { signal: call.signal })
}

function runOne(
  { file, leading, path }: ComposeCommand,
  call: ConfigCall,
  output: readonly string[],
): Promise<ConfigOutput> {
  const given = [
    ...call.files.flatMap((name) => ['-f', name]),
    ...(call.envFiles ?? []).flatMap((name) => ['--env-file', name]),
  ]
  const fixed = ['--project-directory', call.directory, '--project-name', PROJECT_NAME]
  const options = {
    cwd: call.directory,
    env: environmentOf(call, path),
    maxBuffer: MAX_OUTPUT_BYTES,
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL' as const,
    signal: call.signal,
  }
  return new Promise((resolve, reject) => {
    execFile(
      file,
      [...leading, ...given, ...fixed, 'config', ...output],
      options,
      (error, stdout, stderr) => {
        const { unset, warnings, others } = readMessages(stderr)
        if (error === null) resolve({ text: stdout, unset, warnings })
        else if (call.signal?.aborted) reject(call.signal.reason)
        else if (error.killed) {
          reject(new ConfigError(`Compose did not read the file within ${DEADLINE_MS / 1000} seconds`))
        } else reject(new ComposeRejection(others.join('\n').trim() || error.message, unset))
      },
    )
  })
}

function environmentOf(call: ConfigCall, path: string | undefined): Record<string, string> {
  return {
    ...call.variables,
    ...(path === undefined ? {} : { PATH: path }),
    PWD: call.directory,
    DOCKER_CONFIG: '/nonexistent',
    COMPOSE_EXPERIMENTAL_GIT_REMOTE: 'false',
    COMPOSE_EXPERIMENTAL_OCI_REMOTE: 'false',
  }
}
