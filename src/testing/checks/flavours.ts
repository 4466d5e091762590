import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExecTimeoutError, SandboxUnavailableError } from '../../errors.ts'
import {
  expectBytes,
  expectEqual,
  expectError,
  expectFields,
  expectFileError,
  expectSuccess,
  expectTrue,
} from '../assertions.ts'
import { type ConformanceCheck, check } from '../check.ts'
import { MIB, output, settles, sh } from '../shell.ts'

const TOOL = '/tool'

const noShellChecks: readonly ConformanceCheck[] = [
  check('no shell: commands run, with arguments, input, environment and exit code', async ({ shared }) => {
    const sandbox = await shared('no-shell')
    expectFields(await sandbox.exec([TOOL, 'echo', 'a b', '$HOME']), { exitCode: 0, stdout: 'a b $HOME\n' })
    expectFields(await sandbox.exec([TOOL, 'cat'], { input: 'in' }), { exitCode: 0, stdout: 'in' })
    expectFields(await sandbox.exec([TOOL, 'env', 'WORD'], { env: { WORD: 'x' } }), { stdout: 'x\n' })
    for (const code of [0, 7, 126, 127, 137])
      expectFields(await sandbox.exec([TOOL, 'exit', String(code)]), { exitCode: code })
    expectEqual((await sandbox.exec(['sh', '-c', 'echo'])).launchError?.kind, 'not-found')
  }),
  check('no shell: a deadline kills what runs', async ({ shared }) => {
    const sandbox = await shared('no-shell')
    const call = sandbox.exec([TOOL, 'fork', '600'], { timeoutMs: 1000 })
    await settles('it', expectError(call, ExecTimeoutError))
    const processes = (await sandbox.list('/proc')).filter(({ name }) => /^\d+$/.test(name))
    const lines = await Promise.all(
      processes.map(({ name }) => sandbox.readText(`/proc/${name}/cmdline`).catch(() => '')),
    )
    expectEqual(
      lines.filter((line) => line.includes('fork')),
      [],
    )
  }),
  check('no shell: files go in and out', async ({ shared, tempDir }) => {
    const sandbox = await shared('no-shell')
    const bytes = Buffer.alloc(MIB, 'belljar\n')
    await sandbox.writeFile('/a/b/c', bytes)
    expectBytes(await sandbox.readFile('/a/b/c'), bytes)
    expectEqual(
      (await sandbox.list('/a/b')).map(({ name }) => name),
      ['c'],
    )
    await writeFile(join(tempDir, 'f'), 'up')
    await sandbox.upload(tempDir, '/up')
    await sandbox.download('/up', join(tempDir, 'down'))
    expectEqual(await sandbox.readText('/up/f'), 'up')
    await sandbox.remove('/a', { recursive: true })
    expectEqual(await sandbox.exists('/a'), false)
  }),
].map((made) => ({ ...made, needs: ['no-shell'] as const }))

const nonRootChecks: readonly ConformanceCheck[] = [
  check('non-root: commands and files are the user’s own', async ({ shared }) => {
    const sandbox = await shared('non-root')
    expectEqual(
      await output(sandbox, 'echo "$(id -u) $(id -g) $HOME $PWD"'),
      '1000 1000 /home/agent /home/agent',
    )
    await sandbox.writeFile('a/b/c.txt', 'x')
    for (const path of ['a', 'a/b', 'a/b/c.txt'])
      expectFields(await sandbox.stat(path), { uid: 1000, gid: 1000 })
    expectSuccess(await sh(sandbox, 'rm -rf a'))
    expectEqual(await sandbox.exists('/home/agent/a'), false)
  }),
  check('non-root: what is root’s is refused', async ({ shared }) => {
    const sandbox = await shared('non-root')
    await expectFileError(sandbox.writeFile('/etc/new', 'x'), 'permission')
    await expectFileError(sandbox.writeFile('/etc/passwd', 'x'), 'permission')
    await expectFileError(sandbox.remove('/etc/passwd'), 'permission')
    await expectFileError(sandbox.readFile('/etc/shadow'), ['permission', 'not-found'])
    expectEqual(await sandbox.exists('/etc/new'), false)
  }),
  check('non-root: root is there for those who ask', async ({ shared }) => {
    const sandbox = await shared('non-root')
    expectEqual(await output(sandbox, 'id -u', { user: '0' }), '0')
    await sandbox.writeFile('/root-made/file', 'x', { user: 'root', mode: 0o600 })
    expectFields(await sandbox.stat('/root-made/file'), { uid: 0, gid: 0 })
    await expectFileError(sandbox.readFile('/root-made/file'), 'permission')
  }),
  check('non-root: a deadline kills what another user runs', async ({ shared }) => {
    const sandbox = await shared('non-root')
    await expectError(sh(sandbox, 'sleep 600 & sleep 600', { timeoutMs: 800, user: '0' }), ExecTimeoutError)
    await expectError(sh(sandbox, 'sleep 600 & sleep 600', { timeoutMs: 800 }), ExecTimeoutError)
    const left = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 60[0]'; true"
    expectEqual(await output(sandbox, left), '0')
  }),
].map((made) => ({ ...made, needs: ['non-root'] as const }))

const readOnlyChecks: readonly ConformanceCheck[] = [
  check('read-only: commands run, and files go where something is mounted', async ({ shared, tempDir }) => {
    const sandbox = await shared('read-only')
    expectEqual(await output(sandbox, 'echo on'), 'on')
    await sandbox.writeFile('/tmp/a/b', 'x', { mode: 0o755 })
    expectEqual(await output(sandbox, 'cat /tmp/a/b'), 'x')
    await writeFile(join(tempDir, 'f'), 'up')
    await sandbox.upload(tempDir, '/tmp/up')
    expectEqual(await sandbox.readText('/tmp/up/f'), 'up')
  }),
  check('read-only: writing elsewhere is refused as such', async ({ shared }) => {
    const sandbox = await shared('read-only')
    await expectFileError(sandbox.writeFile('/etc/new', 'x'), 'read-only')
    await expectFileError(sandbox.writeFile('/etc/passwd', 'x'), 'read-only')
    await expectFileError(sandbox.writeFile('/new/deep', 'x'), 'read-only')
    await expectFileError(sandbox.remove('/etc/passwd'), 'read-only')
  }),
].map((made) => ({ ...made, needs: ['read-only'] as const }))

const strictChecks: readonly ConformanceCheck[] = [
  check('strict: commands have no capabilities and cannot gain any', async ({ shared }) => {
    const sandbox = await shared('strict')
    const facts = await output(
      sandbox,
      'grep -E "^(CapEff|CapPrm|CapInh|CapAmb|NoNewPrivs)" /proc/self/status',
    )
    for (const line of facts.split('\n'))
      expectTrue(/^(Cap.*:\s*0+|NoNewPrivs:\s*1)$/.test(line), `nothing to gain, got ${line}`)
    await expectFileError(sandbox.writeFile('/etc/new', 'x'), 'permission')
    await sandbox.writeFile('own', 'x')
    expectEqual(await output(sandbox, 'cat own'), 'x')
  }),
  check('strict: a deadline kills the tree', async ({ shared }) => {
    const sandbox = await shared('strict')
    await expectError(
      sh(sandbox, 'setsid sleep 600 & (setsid sleep 600 &); sleep 600', { timeoutMs: 800 }),
      ExecTimeoutError,
    )
    const left = "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 60[0]'; true"
    expectEqual(await output(sandbox, left), '0')
  }),
].map((made) => ({ ...made, needs: ['strict'] as const }))

const lifeChecks: readonly ConformanceCheck[] = [
  check('a sandbox that was removed is unavailable, and removing it again is nothing', async ({ start }) => {
    const started = await start()
    expectEqual(await output(started.default, 'echo on'), 'on')
    expectEqual((await settles('removing', started.remove())).left, [])
    expectEqual((await started.remove()).left, [])
    await settles('a command', expectError(started.default.exec(['true']), SandboxUnavailableError))
    await settles(
      'a file call',
      expectError(started.default.readFile('/etc/passwd'), SandboxUnavailableError),
    )
  }),
  check('a command in flight ends as unavailable when its sandbox is removed', async ({ start }) => {
    const started = await start()
    const calls = [sh(started.default, 'sleep 600'), sh(started.default, 'yes', { maxOutputBytes: 1000 })]
    for (const call of calls) call.catch(() => undefined)
    await output(started.default, 'sleep 0.5')
    expectEqual((await settles('removing', started.remove())).left, [])
    for (const call of calls) await settles('a command', expectError(call, SandboxUnavailableError))
  }),
  check(
    'two sandboxes share neither files nor processes',
    async ({ sandbox, start }) => {
      const other = (await start()).default
      const pid = await output(other, 'echo mine > /belljar-mine; sleep 600 > /dev/null 2>&1 & echo $!')
      expectEqual(await sandbox.exists('/belljar-mine'), false)
      expectEqual(await other.exists('/belljar-mine'), true)
      expectTrue(Number(pid) > 0, 'a process')
    },
    { needs: ['isolation'] },
  ),
]

export const flavourChecks: readonly ConformanceCheck[] = [
  ...lifeChecks,
  ...nonRootChecks,
  ...readOnlyChecks,
  ...strictChecks,
  ...noShellChecks,
]
