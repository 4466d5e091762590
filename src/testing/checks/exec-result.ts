import type { LaunchErrorKind, Sandbox } from '../../sandbox/sandbox.ts'
import { expectEqual, expectError, expectFields, expectSuccess, expectTrue } from '../assertions.ts'
import { type ConformanceCheck, check } from '../check.ts'
import { output, sh } from '../shell.ts'

const EXIT_CODES = [0, 1, 2, 70, 124, 125, 126, 127, 128, 129, 137, 143, 255]

async function expectLaunchError(
  sandbox: Sandbox,
  request: { command: readonly string[]; cwd?: string; env?: Record<string, string> },
  kind: LaunchErrorKind,
): Promise<void> {
  const { command, ...options } = request
  const result = await sandbox.exec(command, options)
  expectEqual(result.launchError?.kind, kind, `launch error of ${command[0]?.slice(0, 80)}`)
  expectFields(result, {
    exitCode: null,
    signal: null,
    stdout: '',
    stderr: '',
    stdoutBytes: 0,
    stderrBytes: 0,
  })
}

export const execResultChecks: readonly ConformanceCheck[] = [
  check('every exit code is a plain result, with and without a deadline', async ({ sandbox }) => {
    const runs = EXIT_CODES.flatMap((code) => [{ code }, { code, timeoutMs: 60_000 }])
    await Promise.all(
      runs.map(async ({ code, ...options }) => {
        const result = await sh(sandbox, 'exit "$1"', { ...options, args: [String(code)] })
        expectFields(result, { exitCode: code, signal: null, stdout: '', stderr: '', truncated: false })
        expectEqual(result.launchError, undefined)
      }),
    )
  }),
  check(
    'a command that a signal ends is a result and no timeout, whatever its deadline',
    async ({ sandbox }) => {
      for (const signal of ['TERM', 'KILL']) {
        const result = await sh(sandbox, `echo before; kill -${signal} $$; sleep 5; echo after`, {
          timeoutMs: 60_000,
        })
        expectEqual(result.stdout, 'before\n')
        expectTrue(result.exitCode !== 0, `no success after SIG${signal}`)
      }
    },
  ),
  check('a command that a signal ends says which, and has no exit code', async ({ sandbox }) => {
    for (const signal of ['TERM', 'KILL', 'INT', 'SEGV'])
      expectFields(await sh(sandbox, `kill -${signal} $$; sleep 5`), {
        exitCode: null,
        signal: `SIG${signal}`,
      })
  }),
  check('words of an engine in the output of a command are output', async ({ sandbox }) => {
    const words = 'OCI runtime exec failed: exec: "x": executable file not found in $PATH: unknown\n'
    const result = await sh(sandbox, 'printf "%s" "$1" >&2; printf "%s" "$1"; exit 126', { args: [words] })
    expectFields(result, { exitCode: 126, stdout: words, stderr: words })
    expectEqual(result.launchError, undefined)
  }),
  check('what is not there is a launch error: not-found', async ({ sandbox, folder }) => {
    await expectLaunchError(sandbox, { command: ['no-such-program'] }, 'not-found')
    await expectLaunchError(sandbox, { command: [`${folder}/no/such/program`] }, 'not-found')
    await expectLaunchError(sandbox, { command: ['./no-such-program'] }, 'not-found')
  }),
  check('what cannot be executed is a launch error: not-executable', async ({ sandbox, folder }) => {
    await sandbox.writeFile(`${folder}/plain`, 'text', { mode: 0o644 })
    await expectLaunchError(sandbox, { command: [`${folder}/plain`] }, 'not-executable')
    await expectLaunchError(sandbox, { command: [folder] }, 'not-executable')
  }),
  check('a text file without an interpreter line does not run as a script', async ({ sandbox, folder }) => {
    await sandbox.writeFile(`${folder}/script`, 'echo it ran\n', { mode: 0o755 })
    const result = await sandbox.exec([`${folder}/script`])
    expectFields(result, { exitCode: null, stdout: '' })
    expectEqual(result.launchError?.kind, 'not-executable')
  }),
  check('a script whose interpreter is missing is a launch error', async ({ sandbox, folder }) => {
    await sandbox.writeFile(`${folder}/script`, '#!/no/such/interpreter\n', { mode: 0o755 })
    const { launchError, exitCode } = await sandbox.exec([`${folder}/script`])
    expectEqual(exitCode, null)
    expectTrue(['not-found', 'not-executable'].includes(launchError?.kind ?? ''), 'a launch error')
  }),
  check('one argument of 200 KB is a launch error: arguments-too-long', async ({ sandbox }) => {
    await expectLaunchError(sandbox, { command: ['true', 'x'.repeat(200_000)] }, 'arguments-too-long')
    await expectLaunchError(
      sandbox,
      { command: ['true'], env: { LONG: 'x'.repeat(200_000) } },
      'arguments-too-long',
    )
  }),
  check('20 MB of arguments are a launch error: arguments-too-long', async ({ sandbox }) => {
    const command = ['true', ...Array.from({ length: 200 }, () => 'x'.repeat(100_000))]
    await expectLaunchError(sandbox, { command }, 'arguments-too-long')
  }),
  check('a NUL character in an argument is a launch error', async ({ sandbox }) => {
    const result = await sandbox.exec(['printf', 'a\0b'])
    expectFields(result, { exitCode: null, stdout: '' })
    expectEqual(result.launchError?.kind, 'other')
  }),
  check('a wrong request is refused before anything runs', async ({ sandbox }) => {
    await expectError(sandbox.exec([]), TypeError)
    await expectError(sandbox.exec(['true'], { timeoutMs: 0 }), TypeError)
    await expectError(sandbox.exec(['true'], { timeoutMs: Number.NaN }), TypeError)
  }),
  check('no shell looks at the arguments', async ({ sandbox }) => {
    const odd = [
      '$HOME',
      '`id`',
      ';',
      '*',
      '',
      ' a  b ',
      "'",
      '"',
      '\\',
      'line\nbreak',
      '\t',
      'Ü 漢 🎉',
      '-e',
      '--',
      '|',
    ]
    const result = expectSuccess(await sandbox.exec(['sh', '-c', 'printf "<%s>" "$@"', 'sh', ...odd]))
    expectEqual(result.stdout, odd.map((text) => `<${text}>`).join(''))
    expectEqual((await sandbox.exec(['printf', '%s|%s', '$HOME;id', '-n'])).stdout, '$HOME;id|-n')
  }),
  check('a program whose name begins with a dash is looked up as any other', async ({ sandbox, folder }) => {
    await sandbox.writeFile(`${folder}/-program`, '#!/bin/sh\necho "ran with $1"\n', { mode: 0o755 })
    const path = await output(sandbox, 'printf %s "$PATH"')
    const result = await sandbox.exec(['-program', '-x'], { env: { PATH: `${folder}:${path}` } })
    expectEqual(expectSuccess(result).stdout, 'ran with -x\n')
  }),
  check('1 MiB of arguments arrives', async ({ sandbox }) => {
    const args = Array.from({ length: 16 }, (_, index) => String.fromCharCode(97 + index).repeat(65_536))
    const result = expectSuccess(await sandbox.exec(['sh', '-c', 'printf %s "$@"', 'sh', ...args]))
    expectTrue(result.stdout === args.join(''), 'the arguments as they were sent')
  }),
  check('durations are told, and a command that failed to start has one too', async ({ sandbox }) => {
    for (const command of [['true'], ['no-such-program']]) {
      const { durationMs } = await sandbox.exec(command)
      expectTrue(Number.isFinite(durationMs) && durationMs >= 0, `a duration, got ${durationMs}`)
    }
  }),
  check('the command line for a person is there', async ({ sandbox }) => {
    expectTrue(sandbox.shellCommand().trim() !== '', 'a command line')
  }),
]
