import { describe, expect, it } from 'vitest'
import { ExecAbortedError, ExecTimeoutError } from '../../../../src/errors.ts'
import { hasGuest, runGuest } from './guest-process.ts'

const sh = (script: string) => ['sh', '-c', script]

describe.skipIf(!hasGuest)('exec on a guest', () => {
  it('keeps both streams apart and tells the exit code', async () => {
    await using guest = await runGuest()
    const result = await guest.sandbox.exec(sh('echo out; echo err >&2; exit 3'))
    expect(result).toMatchObject({
      exitCode: 3,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
      truncated: false,
    })
  })

  it.each([124, 125, 126, 127, 137, 143])(
    'tells a command that exits %i itself from everything else',
    async (code) => {
      await using guest = await runGuest()
      const result = await guest.sandbox.exec(sh(`exit ${code}`), { timeoutMs: 10_000 })
      expect(result).toMatchObject({ exitCode: code, signal: null })
      expect(result.launchError).toBeUndefined()
    },
  )

  it.each([
    ['not-found', ['no-such-command-here'], {}],
    ['not-found', ['/no/such/file'], {}],
    ['not-executable', ['/etc/passwd'], {}],
    ['not-executable', ['/'], {}],
    ['no-such-cwd', ['true'], { cwd: '/no/such/folder' }],
    ['no-such-user', ['true'], { user: 'nobody-of-that-name' }],
    ['arguments-too-long', ['true', 'x'.repeat(200_000)], {}],
    ['arguments-too-long', ['true', 'x'.repeat(9_000_000)], {}],
    ['other', ['true', 'a\0b'], {}],
  ] as const)('tells the launch error %s', async (kind, command, options) => {
    await using guest = await runGuest()
    const result = await guest.sandbox.exec(command, options)
    expect(result.launchError?.kind).toBe(kind)
    expect(result.exitCode).toBeNull()
  })

  it('feeds input to its end, and gives end of file without any', async () => {
    await using guest = await runGuest()
    const input = Buffer.alloc(5_000_000, 'abcdefg\n')
    const result = await guest.sandbox.exec(['cat'], { input, raw: true })
    expect(Buffer.compare(result.raw!.stdout, input)).toBe(0)
    expect(await guest.sandbox.exec(['cat'])).toMatchObject({ exitCode: 0, stdoutBytes: 0 })
  })

  it('does not wait for a reader that leaves its input', async () => {
    await using guest = await runGuest()
    const result = await guest.sandbox.exec(sh('exit 0'), { input: Buffer.alloc(3_000_000) })
    expect(result.exitCode).toBe(0)
  })

  it.each([
    [999, false],
    [1000, false],
    [1001, true],
    [3000, true],
  ])('cuts %i bytes at a cap of 1000', async (size, truncated) => {
    await using guest = await runGuest()
    const script = `head -c ${size - 1} /dev/zero | tr '\\0' x; printf E; head -c ${size - 1} /dev/zero | tr '\\0' y >&2; printf F >&2`
    const result = await guest.sandbox.exec(sh(script), { maxOutputBytes: 1000 })
    expect(result).toMatchObject({ truncated, stdoutBytes: size, stderrBytes: size, exitCode: 0 })
    expect(result.stdout).toHaveLength(Math.min(size, 1000))
    expect(result.stdout.endsWith('xE')).toBe(true)
    expect(result.stderr.endsWith('yF')).toBe(true)
  })

  it('keeps the tail of a flood in little memory', async () => {
    await using guest = await runGuest()
    const result = await guest.sandbox.exec(sh('yes | head -c 200000000; echo end'), {
      maxOutputBytes: 100_000,
    })
    expect(result.stdoutBytes).toBe(200_000_004)
    expect(result.stdout.endsWith('y\nend\n')).toBe(true)
  })

  it('runs many at once', async () => {
    await using guest = await runGuest()
    const runs = Array.from({ length: 100 }, (_, index) =>
      guest.sandbox.exec(sh(`echo ${index}; exit ${index}`)),
    )
    const results = await Promise.all(runs)
    results.forEach((result, index) => {
      expect(result).toMatchObject({ exitCode: index, stdout: `${index}\n` })
    })
  })

  it('answers a short command while another one floods', async () => {
    await using guest = await runGuest()
    const stop = new AbortController()
    const flood = guest.sandbox.exec(['yes'], { signal: stop.signal }).catch((error: unknown) => error)
    const started = performance.now()
    for (let index = 0; index < 20; index++) await guest.sandbox.exec(['true'])
    expect((performance.now() - started) / 20).toBeLessThan(200)
    stop.abort()
    expect(await flood).toBeInstanceOf(ExecAbortedError)
  })

  it('adds variables to the environment and searches their PATH', async () => {
    await using guest = await runGuest({ hello: { env: { PATH: '/usr/bin:/bin', BASE: '1', OVER: 'a' } } })
    const env = { OVER: 'b=c "d"\nü', LONG: 'v'.repeat(120_000) }
    const result = await guest.sandbox.exec(
      sh('printf "%s|%s|" "$BASE" "$OVER"; printf %s "$LONG" | wc -c'),
      { env },
    )
    expect(result.stdout).toBe('1|b=c "d"\nü|120000\n')
    const missing = await guest.sandbox.exec(['true'], { env: { PATH: '/nowhere' } })
    expect(missing.launchError?.kind).toBe('not-found')
  })

  it('replaces bytes that are no UTF-8, and keeps characters that arrive in parts', async () => {
    await using guest = await runGuest()
    const result = await guest.sandbox.exec(sh(`printf '\\342\\202'; sleep 0.05; printf '\\254 \\377'`))
    expect(result.stdout).toBe('€ \ufffd')
  })

  it('answers when the main process has ended, while a child holds the pipes', async () => {
    await using guest = await runGuest()
    const started = performance.now()
    const result = await guest.sandbox.exec(sh('(sleep 5; echo late) & echo now'))
    expect(result.stdout).toBe('now\n')
    expect(performance.now() - started).toBeLessThan(2000)
  })

  it('kills the whole tree at the deadline and hands over what was printed', async () => {
    await using guest = await runGuest()
    const script = `echo $$; (setsid sh -c "echo \\$\\$; sleep 61.${process.pid}" &) ; (trap "" TERM; sleep 62.${process.pid})& env -i sleep 63.${process.pid}`
    const error = await guest.sandbox.exec(sh(script), { timeoutMs: 300 }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ExecTimeoutError)
    expect((error as ExecTimeoutError).partial.stdout).toMatch(/^\d+\n\d+\n$/)
    const left = await guest.sandbox.exec(sh('cat /proc/[0-9]*/cmdline | tr "\\0" " "'))
    expect(left.stdout).not.toMatch(new RegExp(`sleep 6[123]\\.${process.pid}`))
  })

  it('kills the tree when the signal is aborted', async () => {
    await using guest = await runGuest()
    const signal = AbortSignal.timeout(200)
    const error = await guest.sandbox
      .exec(sh(`echo begun; sleep 71.${process.pid} & sleep 72.${process.pid}`), { signal })
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ExecAbortedError)
    expect((error as ExecAbortedError).partial.stdout).toBe('begun\n')
    const left = await guest.sandbox.exec(sh('cat /proc/[0-9]*/cmdline | tr "\\0" " "'))
    expect(left.stdout).not.toMatch(new RegExp(`sleep 7[12]\\.${process.pid}`))
  })

  it('tells a signal by name', async () => {
    await using guest = await runGuest()
    expect(await guest.sandbox.exec(sh('kill -SEGV $$'))).toMatchObject({ exitCode: null, signal: 'SIGSEGV' })
  })

  it('leaves no zombie after many short commands', async () => {
    await using guest = await runGuest()
    for (let round = 0; round < 25; round++)
      await Promise.all(Array.from({ length: 20 }, () => guest.sandbox.exec(sh('true & true'))))
    const children = async () => {
      const count = sh(`grep -l "^PPid:.${guest.child.pid}$" /proc/[0-9]*/status 2>/dev/null | wc -l`)
      return Number((await guest.sandbox.exec(count)).stdout)
    }
    // What sees to the last ones' children may still be on its way out.
    await expect.poll(children, { timeout: 10_000 }).toBeLessThanOrEqual(2)
  })
})
