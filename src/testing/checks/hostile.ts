import { BelljarError, ExecTimeoutError, SandboxUnavailableError } from '../../errors.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { expectEqual, expectError, expectFileError, expectSuccess, expectTrue } from '../assertions.ts'
import { type ConformanceCheck, check, type Flavour } from '../check.ts'
import { eventually, MIB, output, pause, settles, sh } from '../shell.ts'

const HOSTILE_MS = 60_000

/** Whatever it was, it ended in one of the ways that callers know. */
async function expectTyped(what: string, call: Promise<unknown>): Promise<void> {
  const error = await settles(
    what,
    call.then(
      () => undefined,
      (thrown: unknown) => thrown,
    ),
    HOSTILE_MS,
  )
  if (error !== undefined && !(error instanceof BelljarError)) throw error
}

/** Answers that are right, or that there is no room for a process, or the sandbox is unavailable; never an answer that is wrong. */
async function expectHonest(sandbox: Sandbox): Promise<'usable' | 'unavailable'> {
  for (let round = 0; round < 3; round += 1) {
    const word = `word-${round}`
    try {
      const result = await settles(
        'a command afterwards',
        sh(sandbox, 'echo "$1"; exit 3', { args: [word] }),
        HOSTILE_MS,
      )
      if (result.launchError?.kind === 'resources') return 'unavailable'
      expectEqual([result.stdout, result.exitCode], [`${word}\n`, 3])
    } catch (error) {
      if (error instanceof SandboxUnavailableError) return 'unavailable'
      throw error
    }
  }
  return 'usable'
}

async function expectUsable(sandbox: Sandbox): Promise<void> {
  expectEqual(await expectHonest(sandbox), 'usable')
  await sandbox.writeFile('after', 'x')
  expectEqual(await sandbox.readText('after'), 'x')
}

/** Writes to every descriptor of every other process that it may open. */
const SCRIBBLE = `for fd in /proc/[0-9]*/fd/*; do
  case $fd in /proc/$$/*) continue ;; esac
  [ -p "$fd" ] || [ -S "$fd" ] || continue
  (printf '%s' "$1" > "$fd") 2>/dev/null & writer=$!
  (sleep 0.2; kill -9 $writer) 2>/dev/null
done; echo scribbled`

/** Version 1, an exit frame, some request, no nonce: what a frame of a guest looks like to one who has read its source. */
const FORGED = `\u001c\u0001\u0001C${'\u0001'.repeat(36)}`

/** A shell that can make no process ends, and so leaves room for one or two. */
const FILL = 'while :; do sleep 600 > /dev/null 2>&1 & done'

const BOMB = 'bomb() { bomb | bomb & bomb; }; bomb'

function killsEverything(flavour: Flavour): ConformanceCheck {
  return check(
    `hostile, ${flavour}: kill -9 -1 leaves a sandbox that is usable, or says at once that it is not`,
    async ({ start, sandbox }) => {
      const started = await start(flavour)
      await expectTyped('it', sh(started.default, 'kill -9 -1; sleep 1', { timeoutMs: 20_000 }))
      await expectHonest(started.default)
      expectEqual((await settles('removing it', started.remove())).left, [])
      await expectUsable(sandbox)
    },
  )
}

function survivesKill(flavour: Flavour): ConformanceCheck {
  return check(`hostile, ${flavour}: a sandbox survives kill -9 -1`, async ({ start }) => {
    const { default: sandbox } = await start(flavour)
    await expectTyped('it', sh(sandbox, 'kill -9 -1; sleep 1', { timeoutMs: 20_000 }))
    await expectUsable(sandbox)
  })
}

function forges(flavour: Flavour): ConformanceCheck {
  return check(
    `hostile, ${flavour}: forged frames and noise make no wrong answer`,
    async ({ start, sandbox }) => {
      const started = await start(flavour)
      for (const noise of [FORGED, 'noise\n'])
        await expectTyped('it', sh(started.default, SCRIBBLE, { args: [noise], timeoutMs: 30_000 }))
      await expectHonest(started.default)
      expectEqual((await settles('removing it', started.remove())).left, [])
      await expectUsable(sandbox)
    },
  )
}

function floods(flavour: Flavour): ConformanceCheck {
  return check(
    `hostile, ${flavour}: a flood on both streams that nobody reads stops nothing`,
    async ({ start }) => {
      const started = await start(flavour)
      const flood = await started.default.spawn(['sh', '-c', 'yes & yes >&2'])
      await pause(1000)
      await expectUsable(started.default)
      await settles('killing it', flood.kill())
      await settles('waiting for it', flood.wait())
      await started.default.spawn(['sh', '-c', 'yes & yes >&2'])
      await pause(300)
      expectEqual((await settles('removing it', started.remove())).left, [])
    },
  )
}

const limitChecks: readonly ConformanceCheck[] = [
  check(
    'hostile: a fork bomb at a process limit ends typed, and no other sandbox notices',
    async ({ start, sandbox }) => {
      const started = await start('small')
      const bomb = expectTyped('the bomb', sh(started.default, BOMB, { timeoutMs: 3000 }))
      await pause(1000)
      await expectUsable(sandbox)
      await bomb
      await expectHonest(started.default)
      expectEqual((await settles('removing it', started.remove())).left, [])
    },
  ),
  check('hostile: a sandbox is usable after a fork bomb at its process limit', async ({ start }) => {
    const { default: sandbox } = await start('small')
    await settles(
      'the bomb',
      expectError(
        sh(sandbox, `sh -c '${BOMB}' & while :; do :; done`, { timeoutMs: 3000 }),
        ExecTimeoutError,
      ),
      HOSTILE_MS,
    )
    await expectUsable(sandbox)
    const count = await output(sandbox, 'ls -d /proc/[0-9]* | wc -l')
    expectTrue(Number(count) < 20, `the bomb to be gone, got ${count} processes`)
  }),
  check('hostile: no room for a process is a launch error of its own', async ({ start }) => {
    const { default: sandbox } = await start('small')
    await expectTyped('filling it', sh(sandbox, FILL, { timeoutMs: 20_000 }))
    let kind: string | undefined
    await eventually('a command cannot start', async () => {
      const process = await sandbox.spawn(['sleep', '600'])
      const ended = await Promise.race([process.wait(), pause(500)])
      kind = ended?.launchError?.kind
      return ended !== undefined
    })
    expectEqual(kind, 'resources')
  }),
  check('hostile: a full disk is an error of the call, and is over when there is room', async ({ start }) => {
    const { default: sandbox } = await start('small')
    const filled = await sh(sandbox, 'cat /dev/zero > /small/fill', { timeoutMs: 20_000 })
    expectTrue(filled.exitCode !== 0, 'that the disk was full')
    await expectFileError(sandbox.writeFile('/small/x', Buffer.alloc(MIB / 2)), 'no-space')
    expectEqual(
      (await sandbox.list('/small')).map(({ name }) => name),
      ['fill'],
    )
    expectEqual((await sandbox.readFile('/small/fill')).length, MIB)
    await sandbox.remove('/small/fill')
    await sandbox.writeFile('/small/x', 'x')
    expectSuccess(await sh(sandbox, '[ "$(cat /small/x)" = x ]'))
  }),
].map((made) => ({ ...made, needs: ['isolation', 'small'] as const }))

const perFlavour = (['default', 'non-root', 'strict'] as const).flatMap((flavour) =>
  [killsEverything(flavour), survivesKill(flavour), forges(flavour), floods(flavour)].map((made) => ({
    ...made,
    heavy: flavour !== 'default',
    needs: flavour === 'default' ? (['isolation'] as const) : (['isolation', flavour] as const),
  })),
)

/** For isolating providers only: what these do would hurt this host. */
export const hostileChecks: readonly ConformanceCheck[] = [...perFlavour, ...limitChecks]
