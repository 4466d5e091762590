import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ExecAbortedError, ExecTimeoutError } from '../../../src/errors.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { DockerRun } from '../../support/docker.ts'

const MIB = 1024 * 1024

describe.each(['busybox:latest', 'debian:bookworm-slim'])('commands in %s', (image) => {
  let run: DockerRun
  let sandbox: Sandbox
  const sh = (script: string, options = {}) => sandbox.exec(['sh', '-c', script], options)

  beforeAll(async () => {
    run = await DockerRun.open({ transport: 'engine' })
    sandbox = (await run.start({ image })).default
  })
  afterAll(() => run[Symbol.asyncDispose]())

  test.each([0, 1, 124, 125, 126, 127, 137, 143, 255])('exit code %i is a plain result', async (code) => {
    const result = await sh(`exit ${code}`)
    expect(result).toMatchObject({ exitCode: code, signal: null, stdout: '', stderr: '' })
    expect(result.launchError).toBeUndefined()
  })

  test('what cannot be started is a typed launch error, and nothing of it looks like output', async () => {
    await sh('echo text > /plain; printf "#!/none\\n" > /bad; chmod +x /bad')
    const kinds = async (command: string[], options = {}) =>
      (await sandbox.exec(command, options)).launchError?.kind
    expect(await kinds(['no-such-program'])).toBe('not-found')
    expect(await kinds(['/no/such/program'])).toBe('not-found')
    expect(await kinds(['/plain'])).toBe('not-executable')
    expect(await kinds(['/tmp'])).toBe('not-executable')
    expect(['not-found', 'not-executable']).toContain(await kinds(['/bad']))
    expect(await kinds(['true'], { cwd: '/no/such/folder' })).toBe('no-such-cwd')
    expect(await kinds(['true'], { user: 'nobody-of-that-name' })).toBe('no-such-user')
    expect(await kinds(['true', 'x'.repeat(200_000)])).toBe('arguments-too-long')
    expect(await kinds(['true', ...Array.from({ length: 40 }, () => 'x'.repeat(100_000))])).toBe(
      'arguments-too-long',
    )
    expect(await sandbox.exec(['nope'])).toMatchObject({ exitCode: null, stdout: '', stderr: '' })
  })

  test('arguments and variables arrive as given', async () => {
    const odd = 'a b\'"$HOME`\\\n\tÜ 漢 🎉 *?[x] -e'
    const result = await sandbox.exec(['printf', '%s|%s', odd, '-n'], {})
    expect(result.stdout).toBe(`${odd}|-n`)
    const fromEnv = await sh('printf %s "$ODD"', { env: { ODD: odd } })
    expect(fromEnv.stdout).toBe(odd)
    const long = await sh('printf %s "$LONG" | wc -c', { env: { LONG: 'y'.repeat(131_000) } })
    expect(long.stdout.trim()).toBe('131000')
    const many = await sandbox.exec(['sh', '-c', 'echo $#', 'x', ...Array(10).fill('z'.repeat(100_000))])
    expect(many.stdout).toBe('10\n')
  })

  test('cwd is absolute or below the working directory, whatever it is called', async () => {
    await sh('mkdir -p /work/-P /work/sub "/work/a b"')
    expect((await sandbox.exec(['pwd'], { cwd: '/tmp' })).stdout).toBe('/tmp\n')
    expect((await sandbox.exec(['pwd'])).stdout).toBe('/work\n')
    expect((await sandbox.exec(['pwd'], { cwd: 'sub' })).stdout).toBe('/work/sub\n')
    expect((await sandbox.exec(['pwd'], { cwd: '-P' })).stdout).toBe('/work/-P\n')
    expect((await sandbox.exec(['pwd'], { cwd: 'a b' })).stdout).toBe('/work/a b\n')
  })

  test('user is a name, a uid or uid:gid', async () => {
    expect((await sandbox.exec(['id', '-u'], { user: '1234' })).stdout).toBe('1234\n')
    expect((await sandbox.exec(['id', '-g'], { user: '1234:55' })).stdout).toBe('55\n')
    expect((await sandbox.exec(['id', '-u'])).stdout).toBe('0\n')
  })

  test('no input is end of file at once, and given input ends', async () => {
    expect(await sandbox.exec(['cat'])).toMatchObject({ exitCode: 0, stdout: '' })
    expect(await sandbox.exec(['cat'], { input: 'abc' })).toMatchObject({ exitCode: 0, stdout: 'abc' })
    expect(await sandbox.exec(['cat'], { input: '' })).toMatchObject({ exitCode: 0, stdout: '' })
    expect(await sandbox.exec(['true'], { input: 'x'.repeat(MIB) })).toMatchObject({ exitCode: 0 })
  })

  test('bytes go through unchanged, and text is decoded with replacement', async () => {
    const input = new Uint8Array(256 * 64).map((_, index) => index % 256)
    const result = await sandbox.exec(['cat'], { input, raw: true })
    expect(Buffer.from(result.raw!.stdout).equals(Buffer.from(input))).toBe(true)
    expect((await sh("printf '\\377\\376 ok'")).stdout).toBe('\ufffd\ufffd ok')
    expect((await sh("printf '\\342\\202'; sleep 0.2; printf '\\254'")).stdout).toBe('€')
    expect((await sh("printf '\\033[31mred\\033[0m\\000end'")).stdout).toBe('\x1b[31mred\x1b[0m\0end')
  })

  test('3,500 writes of one byte arrive in order', async () => {
    const result = await sh('i=0; while [ $i -lt 3500 ]; do printf %s $((i % 10)); i=$((i + 1)); done')
    expect(result.stdout).toBe(Array.from({ length: 3500 }, (_, index) => index % 10).join(''))
  })

  test('50 MiB go in and come out', async () => {
    const input = Buffer.alloc(50 * MIB, 'belljar\n')
    const result = await sandbox.exec(['cat'], { input, raw: true, maxOutputBytes: 64 * MIB })
    expect(result.stdoutBytes).toBe(input.length)
    expect(Buffer.from(result.raw!.stdout).equals(input)).toBe(true)
  })

  test.each([
    [999, false],
    [1000, false],
    [1001, true],
    [3000, true],
  ])('%i bytes under a cap of 1000: truncated %s, tail kept, all counted', async (bytes, truncated) => {
    const script = `head -c ${bytes} /dev/zero | tr '\\0' a; printf '%s' Z`
    for (const redirect of ['', '1>&2']) {
      const result = await sh(`{ ${script}; } ${redirect}`, { maxOutputBytes: 1001 })
      const [text, count] = redirect
        ? [result.stderr, result.stderrBytes]
        : [result.stdout, result.stdoutBytes]
      expect(result.truncated).toBe(truncated)
      expect(count).toBe(bytes + 1)
      expect(text).toBe(`${'a'.repeat(Math.min(bytes, 1000))}Z`)
      expect(result.exitCode).toBe(0)
    }
  })

  test('a child left in the background delays nothing and lives on', async () => {
    const result = await sh('(while :; do date > /alive; sleep 0.1; done) & echo main')
    expect(result).toMatchObject({ exitCode: 0, stdout: 'main\n' })
    const changes = 'a=$(stat -c %Y /alive); sleep 1.5; b=$(stat -c %Y /alive); [ "$a" != "$b" ]'
    expect((await sh(changes)).exitCode).toBe(0)
  })

  test.each([
    ['in the foreground', 'sleep 987 & sleep 987'],
    ['that ignores SIGTERM', 'trap "" TERM INT HUP; sleep 987 & while :; do sleep 987; done'],
    ['in a session of its own', 'setsid sleep 987 & sleep 987'],
    ['that has forked twice', '(setsid sh -c "sleep 987 & sleep 987" & ) ; sleep 987'],
    ['with a cleared environment', 'env -i sleep 987 & (env -i sh -c "sleep 987 &"); sleep 987'],
  ])('a deadline leaves no process behind %s', async (_what, script) => {
    const error = await sh(`echo partial; ${script}`, { timeoutMs: 400 }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ExecTimeoutError)
    expect((error as ExecTimeoutError).partial.stdout).toBe('partial\n')
    const left = await sh('cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " " | grep -c "sleep 98[7]"')
    expect(left.stdout).toBe('0\n')
  })

  test('an abort kills one command and leaves the other alone', async () => {
    const controller = new AbortController()
    const other = sh('sleep 1; echo survived')
    const aborted = sh('echo begun; sleep 986', { signal: controller.signal })
    setTimeout(() => controller.abort(new Error('enough')), 500)
    const error = await aborted.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ExecAbortedError)
    expect(error).toMatchObject({ cause: { message: 'enough' }, partial: { stdout: 'begun\n' } })
    expect((await other).stdout).toBe('survived\n')
  })

  test('a command that kills its own wrapper ends as killed', async () => {
    const result = await sh('kill -9 $PPID; sleep 0.2')
    expect(result).toMatchObject({ exitCode: 137 })
  })

  test('a wrong request is refused before anything runs', async () => {
    await expect(sandbox.exec([])).rejects.toThrow('expected a command')
    await expect(sandbox.exec(['true'], { timeoutMs: 0 })).rejects.toThrow('timeoutMs > 0')
  })
})
