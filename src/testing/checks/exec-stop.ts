import { ExecAbortedError, ExecTimeoutError } from '../../errors.ts'
import type { ExecOptions, Sandbox } from '../../sandbox/sandbox.ts'
import { expectEqual, expectError, expectFields, expectTrue } from '../assertions.ts'
import { type ConformanceCheck, check } from '../check.ts'
import { eventually, MarkedSleep, output, pause, settles, sh } from '../shell.ts'

interface Tree {
  readonly what: string
  readonly script: string
  readonly count: number
}

/** What a command may leave behind; `S` stands for the marked sleep, and how many of these run. */
const TREES: readonly Tree[] = [
  { what: 'in foreground and background', script: 'S & S', count: 2 },
  { what: 'deaf to SIGTERM', script: 'trap "" TERM INT HUP; S & while :; do S; done', count: 2 },
  { what: 'in sessions of their own', script: 'setsid S & setsid S & S', count: 3 },
  { what: 'forked twice', script: '(setsid sh -c "S & S" &); S', count: 3 },
  { what: 'stopped', script: 'S & p=$!; sleep 0.1; kill -STOP $p; S', count: 2 },
  { what: 'with a cleared environment', script: 'env -i S & (env -i sh -c "S & S" &); S', count: 4 },
]

/** Runs a script until its sleeps are there, then stops it, and sees to it that none of them is left. */
async function expectNoneLeft(sandbox: Sandbox, tree: Tree, stop: 'deadline' | 'abort'): Promise<void> {
  const mark = new MarkedSleep()
  const controller = new AbortController()
  const options: ExecOptions = stop === 'deadline' ? { timeoutMs: 4000 } : { signal: controller.signal }
  const script = `echo partial; ${tree.script.replaceAll(/\bS\b/g, mark.command)}`
  const run = sh(sandbox, script, options)
  run.catch(() => undefined)
  await mark.appears(sandbox, tree.count)
  controller.abort(new Error('enough'))
  const error = await settles(
    'a stopped command',
    expectError(run, stop === 'deadline' ? ExecTimeoutError : ExecAbortedError),
  )
  expectEqual(error.partial.stdout, 'partial\n', 'partial output')
  expectEqual(await mark.count(sandbox), 0, `processes left ${tree.what}`)
}

export const execStopChecks: readonly ConformanceCheck[] = [
  check('a deadline kills the whole tree, however it tries to get away', async ({ sandbox }) => {
    await Promise.all(TREES.map((tree) => expectNoneLeft(sandbox, tree, 'deadline')))
  }),
  check(
    'a deadline kills what has cleared its environment, left its session and lost its parent',
    ({ sandbox }) =>
      expectNoneLeft(
        sandbox,
        { what: 'all at once', script: '(env -i setsid sh -c "S & S" &); S', count: 3 },
        'deadline',
      ),
  ),
  check('an abort kills the whole tree', ({ sandbox }) =>
    expectNoneLeft(
      sandbox,
      { what: 'all at once', script: 'setsid S & (trap "" TERM; S & S) & S', count: 4 },
      'abort',
    ),
  ),
  check(
    'a deadline error carries its deadline and what both streams had, within the cap',
    async ({ sandbox }) => {
      const script = 'for i in 1 2 3; do echo $i; echo "e$i" >&2; done; head -c 5000 /dev/zero; sleep 600'
      const call = sh(sandbox, script, { timeoutMs: 3000, maxOutputBytes: 1000 })
      const { timeoutMs, partial } = await expectError(call, ExecTimeoutError)
      expectEqual(timeoutMs, 3000)
      expectFields(partial, { stderr: 'e1\ne2\ne3\n', stdoutBytes: 5006, stderrBytes: 9, truncated: true })
      expectEqual(partial.stdout.length, 1000)
    },
  ),
  check('a command that ran into its deadline ran once', async ({ sandbox, folder }) => {
    const call = sh(sandbox, 'mkdir -p "$1"; echo ran >> "$1/log"; sleep 600', {
      timeoutMs: 3000,
      args: [folder],
    })
    await expectError(call, ExecTimeoutError)
    await pause(300)
    expectEqual(await sandbox.readText(`${folder}/log`), 'ran\n')
  }),
  check('a deadline of a millisecond is one', async ({ sandbox }) => {
    await settles(
      'such a command',
      expectError(sandbox.exec(['sleep', '600'], { timeoutMs: 1 }), ExecTimeoutError),
    )
  }),
  check(
    'a command that ends before its deadline is a result, and the deadline is forgotten',
    async ({ sandbox }) => {
      expectFields(await sh(sandbox, 'echo done', { timeoutMs: 4000 }), { exitCode: 0, stdout: 'done\n' })
      await pause(4200)
      expectFields(await sandbox.exec(['true']), { exitCode: 0 })
    },
  ),
  check(
    'a stopped command takes neither another nor what another left behind',
    async ({ sandbox, folder }) => {
      const mark = new MarkedSleep()
      const other = sh(sandbox, 'sleep 3; echo survived')
      await output(sandbox, `${mark.command} > /dev/null 2>&1 & echo left`)
      await expectError(sh(sandbox, 'sleep 600', { timeoutMs: 500, args: [folder] }), ExecTimeoutError)
      expectEqual((await other).stdout, 'survived\n')
      expectEqual(await mark.count(sandbox), 1, 'background children of another command')
      await sh(
        sandbox,
        `for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline | grep -q "^$1" && kill -9 "\${p#/proc/}"; done; true`,
        {
          args: [mark.command],
        },
      )
    },
  ),
  check('a signal that is aborted already runs nothing', async ({ sandbox, folder }) => {
    const signal = AbortSignal.abort(new Error('too late'))
    const call = sh(sandbox, 'mkdir -p "$1"', { args: [folder], signal })
    const error = await expectError(call, ExecAbortedError)
    expectEqual((error.cause as Error).message, 'too late')
    expectEqual(await sandbox.exists(folder), false)
  }),
  check('an abort says why, and after the end it does nothing', async ({ sandbox, folder }) => {
    const late = new AbortController()
    expectFields(await sandbox.exec(['true'], { signal: late.signal }), { exitCode: 0 })
    late.abort()
    const controller = new AbortController()
    const call = sh(sandbox, 'echo begun; mkdir -p "$1"; sleep 600', {
      signal: controller.signal,
      args: [folder],
    })
    call.catch(() => undefined)
    await eventually('the command has begun', () => sandbox.exists(folder))
    controller.abort(new Error('enough'))
    const error = await expectError(call, ExecAbortedError)
    expectEqual((error.cause as Error).message, 'enough')
    expectEqual(error.partial.stdout, 'begun\n')
  }),
  check('one signal ends a dozen commands', async ({ sandbox }) => {
    const mark = new MarkedSleep()
    const controller = new AbortController()
    const { signal } = controller
    const calls = Array.from({ length: 12 }, () =>
      sh(sandbox, `${mark.command} & ${mark.command}`, { signal }),
    )
    for (const call of calls) call.catch(() => undefined)
    await mark.appears(sandbox, 24)
    controller.abort()
    for (const call of calls) await settles('an aborted command', expectError(call, ExecAbortedError))
    expectEqual(await mark.count(sandbox), 0, 'processes left')
  }),
  check(
    'stopping the commands of a sandbox ends all in flight, tells which, and leaves it usable',
    async ({ start }) => {
      const started = await start()
      const mark = new MarkedSleep()
      const command = ['sh', '-c', `setsid ${mark.command} & ${mark.command}`]
      const call = started.default.exec(command)
      call.catch(() => undefined)
      await mark.appears(started.default, 2)
      expectEqual(await started.stopCommands(), [command])
      await expectError(call, ExecAbortedError)
      expectTrue((await mark.count(started.default)) === 0, 'no process of it')
    },
  ),
  check(
    'what commands left running lives on when the commands are stopped, unless it is to be stopped too',
    async ({ start }) => {
      const started = await start()
      const mark = new MarkedSleep()
      await sh(started.default, `setsid ${mark.command} >/dev/null 2>&1 & ${mark.command} >/dev/null 2>&1 &`)
      await mark.appears(started.default, 2)
      await started.stopCommands()
      expectEqual(await mark.count(started.default), 2, 'processes that live on')
      await started.stopCommands({ leftBehind: true })
      expectEqual(await mark.count(started.default), 0, 'processes left')
    },
  ),
]
