import { SandboxFileError, UnsupportedError } from '../../src/errors.ts'
import type { ExecOptions, ExecResult, Sandbox } from '../../src/sandbox/sandbox.ts'

/** What a command of the fake does: part of a result, or an error to throw. */
export type FakeCommand = (
  command: readonly string[],
  options: ExecOptions,
) => Partial<ExecResult> | Error | Promise<Partial<ExecResult> | Error>

export interface FakeSandbox extends Sandbox {
  readonly files: Map<string, { content: string; mode: number }>
  readonly commands: { command: readonly string[]; options: ExecOptions }[]
}

/** A sandbox in memory: files are a map, commands are a function of the test's. */
export function fakeSandbox(run: FakeCommand = () => ({}), service = 'default'): FakeSandbox {
  const files: FakeSandbox['files'] = new Map()
  const commands: FakeSandbox['commands'] = []
  const unsupported = (what: string) => async () => {
    throw new UnsupportedError(`the fake sandbox has no ${what}`)
  }
  const readText = async (path: string) => {
    const file = files.get(path)
    if (file === undefined)
      throw new SandboxFileError(`no such file: ${path}`, { kind: 'not-found', path, service })
    return file.content
  }
  return {
    service,
    files,
    commands,
    async exec(command, options = {}) {
      commands.push({ command, options })
      const outcome = await run(command, options)
      if (outcome instanceof Error) throw outcome
      return execResult(outcome)
    },
    readText,
    readFile: async (path) => Buffer.from(await readText(path)),
    async writeFile(path, content, options = {}) {
      files.set(path, { content: Buffer.from(content).toString(), mode: options.mode ?? 0o644 })
    },
    exists: async (path) => files.has(path),
    async remove(path) {
      files.delete(path)
    },
    spawn: unsupported('spawn'),
    upload: unsupported('upload'),
    download: unsupported('download'),
    stat: unsupported('stat'),
    list: unsupported('list'),
    listen: unsupported('listen'),
    shellCommand: () => 'true',
  }
}

/** A result of a command that did nothing and exited with 0, unless told otherwise. */
export function execResult(facts: Partial<ExecResult> = {}): ExecResult {
  const { stdout = '', stderr = '' } = facts
  return {
    exitCode: facts.launchError || facts.signal ? null : 0,
    signal: null,
    stdout,
    stderr,
    stdoutBytes: Buffer.byteLength(stdout),
    stderrBytes: Buffer.byteLength(stderr),
    truncated: false,
    durationMs: 1,
    ...facts,
  }
}
