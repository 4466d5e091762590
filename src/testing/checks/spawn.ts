import { expectEqual, expectError, expectFields, expectTrue } from '../assertions.ts'
import { type ConformanceCheck, check } from '../check.ts'
import { LiveText, readAll } from '../live-text.ts'
import { MarkedSleep, MIB, pause, settles, sh } from '../shell.ts'

const shell = (script: string) => ['sh', '-c', script]

export const spawnChecks: readonly ConformanceCheck[] = [
  check(
    'spawn: output comes while the command runs, input goes in until it is closed',
    async ({ sandbox }) => {
      const process = await sandbox.spawn(shell('while read -r line; do echo "got $line"; done; exit 4'), {
        stdin: true,
      })
      const text = new LiveText(process.stdout)
      for (const word of ['one', 'two', 'Ü 漢']) {
        await process.write(`${word}\n`)
        await text.until(`got ${word}\n`)
      }
      await process.closeStdin()
      expectFields(await settles('the process', process.wait()), {
        exitCode: 4,
        signal: null,
        timedOut: false,
      })
      expectEqual(await text.rest(), '')
    },
  ),
  check('spawn: both streams come apart and whole, also when read after the end', async ({ sandbox }) => {
    const process = await sandbox.spawn(shell('echo out; echo err >&2; head -c 300000 /dev/zero; exit 9'))
    expectFields(await settles('the process', process.wait()), { exitCode: 9 })
    expectEqual((await readAll(process.stdout)).length, 300_004)
    expectEqual((await readAll(process.stderr)).toString(), 'err\n')
  }),
  check('spawn: a command without input sees the end of file', async ({ sandbox }) => {
    const process = await sandbox.spawn(['cat'])
    expectFields(await settles('the process', process.wait()), { exitCode: 0 })
  }),
  check('spawn: cwd and variables are those of exec', async ({ sandbox, folder }) => {
    await sandbox.writeFile(`${folder}/x`, '')
    const process = await sandbox.spawn(shell('echo "$PWD $WORD"'), { cwd: folder, env: { WORD: 'a b' } })
    expectEqual((await readAll(process.stdout)).toString(), `${folder} a b\n`)
  }),
  check('spawn: 16 MiB go in and come out, with a reader that takes its time', async ({ sandbox }) => {
    const process = await sandbox.spawn(['cat'], { stdin: true })
    const input = Buffer.alloc(MIB, 'belljar\n')
    const writing = (async () => {
      for (let round = 0; round < 16; round += 1) await process.write(input)
      await process.closeStdin()
    })()
    await pause(500)
    const received = await settles('reading', readAll(process.stdout))
    await writing
    expectTrue(received.equals(Buffer.concat(Array(16).fill(input))), 'what was written')
    expectFields(await process.wait(), { exitCode: 0 })
  }),
  check('spawn: a process that nobody reads holds up no other command', async ({ sandbox }) => {
    const flood = await sandbox.spawn(
      shell('head -c 33554432 /dev/zero & head -c 33554432 /dev/zero >&2; wait; exit 6'),
    )
    await pause(300)
    expectEqual((await settles('a command beside it', sh(sandbox, 'echo on'))).stdout, 'on\n')
    const sizes = await Promise.all([readAll(flood.stdout), readAll(flood.stderr)])
    expectEqual(
      sizes.map(({ length }) => length),
      [32 * MIB, 32 * MIB],
    )
    expectFields(await settles('the flood', flood.wait()), { exitCode: 6 })
  }),
  check('spawn: kill ends the whole tree at once, and does no harm afterwards', async ({ sandbox }) => {
    const mark = new MarkedSleep()
    const process = await sandbox.spawn(shell(`trap "" TERM; setsid ${mark.command} & ${mark.command}`))
    await mark.appears(sandbox, 2)
    await settles('kill', process.kill())
    expectEqual(await mark.count(sandbox), 0, 'processes left')
    expectFields(await process.wait(), { exitCode: null, signal: 'SIGKILL', timedOut: false })
    await settles('a second kill', process.kill())
  }),
  check('spawn: kill with a grace asks first, and a command may end as it likes', async ({ sandbox }) => {
    const process = await sandbox.spawn(
      shell('trap "echo asked; exit 5" TERM; echo ready; while :; do sleep 0.1; done'),
    )
    const text = new LiveText(process.stdout)
    await text.until('ready\n')
    await settles('kill', process.kill({ graceMs: 20_000 }))
    expectFields(await process.wait(), { exitCode: 5, signal: null })
    expectEqual(await text.rest(), 'asked\n')
  }),
  check('spawn: after the grace comes SIGKILL, for the whole tree', async ({ sandbox }) => {
    const mark = new MarkedSleep()
    const process = await sandbox.spawn(
      shell(`trap "echo asked" TERM; ${mark.command} & echo ready; while :; do wait; sleep 0.1; done`),
    )
    const text = new LiveText(process.stdout)
    await text.until('ready\n')
    await mark.appears(sandbox)
    await settles('kill', process.kill({ graceMs: 500 }))
    expectFields(await process.wait(), { exitCode: null, signal: 'SIGKILL' })
    expectTrue((await text.rest()).startsWith('asked\n'), 'that it was asked')
    expectEqual(await mark.count(sandbox), 0, 'processes left')
  }),
  check('spawn: a deadline ends the tree and says so', async ({ sandbox }) => {
    const mark = new MarkedSleep()
    const process = await sandbox.spawn(shell(`setsid ${mark.command} & ${mark.command}`), {
      timeoutMs: 4000,
    })
    await mark.appears(sandbox, 2)
    expectFields(await settles('the process', process.wait()), { exitCode: null, timedOut: true })
    expectEqual(await mark.count(sandbox), 0, 'processes left')
  }),
  check('spawn: an abort ends the tree', async ({ sandbox }) => {
    const mark = new MarkedSleep()
    const controller = new AbortController()
    const process = await sandbox.spawn(shell(`setsid ${mark.command} & ${mark.command}`), {
      signal: controller.signal,
    })
    await mark.appears(sandbox, 2)
    controller.abort()
    await settles(
      'the process',
      process.wait().catch(() => undefined),
    )
    expectEqual(await mark.count(sandbox), 0, 'processes left')
  }),
  check('spawn: a command that cannot start says so when waited for', async ({ sandbox, folder }) => {
    const missing = await sandbox.spawn(['no-such-program'])
    expectEqual((await settles('it', missing.wait())).launchError?.kind, 'not-found')
    expectEqual((await readAll(missing.stdout)).length, 0)
    const lost = await sandbox.spawn(['true'], { cwd: `${folder}/none` })
    expectEqual((await settles('it', lost.wait())).launchError?.kind, 'no-such-cwd')
  }),
  check(
    'spawn: writing to a command that has ended neither hangs nor breaks anything',
    async ({ sandbox }) => {
      const process = await sandbox.spawn(['true'], { stdin: true })
      expectFields(await settles('the process', process.wait()), { exitCode: 0 })
      await settles(
        'a late write',
        process.write('late').catch(() => undefined),
      )
      await settles(
        'a late close',
        process.closeStdin().catch(() => undefined),
      )
      expectFields(await sandbox.exec(['true']), { exitCode: 0 })
    },
  ),
  check(
    'spawn: waiting ends with the main process, also when a child holds the output',
    async ({ sandbox }) => {
      const mark = new MarkedSleep()
      const process = await sandbox.spawn(shell(`${mark.command} & echo main`))
      expectFields(await settles('the process', process.wait()), { exitCode: 0 })
      await settles('kill', process.kill())
    },
  ),
  check('spawn: a process has an id that is its own inside', async ({ sandbox }) => {
    const process = await sandbox.spawn(['sleep', '600'])
    if (process.pid !== undefined) {
      const found = await sh(sandbox, 'tr "\\0" " " < "/proc/$1/cmdline"', { args: [String(process.pid)] })
      expectTrue(found.stdout.includes('sleep 600'), `pid ${process.pid} to be of the command`)
    }
    await process.kill()
  }),
  check('pty: it is a terminal of the size asked for, and can be resized', async ({ sandbox }) => {
    const process = await sandbox.spawn(
      shell(
        '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo terminal; stty size; read -r _; stty size; echo err >&2',
      ),
      { pty: { columns: 91, rows: 17 }, stdin: true },
    )
    const text = new LiveText(process.stdout)
    await text.until('17 91')
    await process.resize(120, 40)
    await process.write('\n')
    await text.until('40 120')
    await text.until('err')
    expectFields(await settles('the process', process.wait()), { exitCode: 0 })
    expectTrue(text.all.includes('terminal'), 'a terminal on all three descriptors')
    expectEqual((await readAll(process.stderr)).length, 0)
  }),
  check('pty: control characters reach the command', async ({ sandbox }) => {
    const process = await sandbox.spawn(
      shell('trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.1; done'),
      {
        pty: { columns: 80, rows: 24 },
        stdin: true,
      },
    )
    const text = new LiveText(process.stdout)
    await text.until('ready')
    await process.write('\x03')
    await text.until('caught')
    expectFields(await settles('the process', process.wait()), { exitCode: 7 })
  }),
  check('pty: what has no terminal cannot be resized, or ignores it', async ({ sandbox }) => {
    const process = await sandbox.spawn(['cat'], { stdin: true })
    await process.resize(10, 10).catch(() => undefined)
    await process.closeStdin()
    expectFields(await settles('the process', process.wait()), { exitCode: 0 })
  }),
  check('spawn: a signal that is aborted already starts nothing', async ({ sandbox, folder }) => {
    const signal = AbortSignal.abort(new Error('too late'))
    await expectError(sandbox.spawn(['mkdir', '-p', folder], { signal }), Error)
    expectEqual(await sandbox.exists(folder), false)
  }),
]
