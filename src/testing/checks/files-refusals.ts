import type { Sandbox } from '../../sandbox/sandbox.ts'
import { expectEqual, expectFields, expectFileError, expectSuccess } from '../assertions.ts'
import { type ConformanceCheck, check } from '../check.ts'
import { output, settles, sh } from '../shell.ts'

const USER = '1000:1000'

/** Neither Debian nor busybox has one tool that makes a socket; where perl is missing, syslogd's is taken. */
const SOCKET = `mkdir -p "$1" && if command -v perl >/dev/null; then
  perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die; bind(S, sockaddr_un($ARGV[0])) or die' "$1/socket"
elif command -v python3 >/dev/null; then python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$1/socket"
else ln -s "$1/socket" /dev/log && syslogd && while [ ! -S "$1/socket" ]; do sleep 0.1; done; fi
[ -S "$1/socket" ]`

async function expectRefusedKind(sandbox: Sandbox, path: string): Promise<void> {
  await settles('reading', expectFileError(sandbox.readFile(path), 'not-a-regular-file'))
  await settles('writing', expectFileError(sandbox.writeFile(path, 'x'), 'not-a-regular-file'))
}

export const fileRefusalChecks: readonly ConformanceCheck[] = [
  check('reading and writing where something else is than a file says what', async ({ sandbox, folder }) => {
    await output(sandbox, 'mkdir -p "$1/dir" && echo old > "$1/file"', { args: [folder] })
    await expectFileError(sandbox.readFile(`${folder}/none`), 'not-found')
    await expectFileError(sandbox.readFile(`${folder}/none/deeper`), 'not-found')
    await expectFileError(sandbox.readFile(`${folder}/dir`), 'is-a-directory')
    await expectFileError(sandbox.readFile(`${folder}/file/x`), 'not-a-directory')
    await expectFileError(sandbox.readFile('/etc'), 'is-a-directory')
    await expectFileError(sandbox.writeFile(`${folder}/dir`, 'x'), 'is-a-directory')
    await expectFileError(sandbox.writeFile(`${folder}/new/`, 'x'), 'is-a-directory')
    await expectFileError(sandbox.writeFile(`${folder}/file/x`, 'x'), 'not-a-directory')
    expectEqual(await sandbox.readText(`${folder}/file`), 'old\n')
    expectEqual((await sandbox.list(`${folder}/dir`)).length, 0)
  }),
  check('a FIFO is refused, and nobody waits at it', async ({ sandbox, folder }) => {
    await output(sandbox, 'mkdir -p "$1" && mkfifo "$1/fifo"', { args: [folder] })
    await expectRefusedKind(sandbox, `${folder}/fifo`)
    expectFields(await sandbox.stat(`${folder}/fifo`), { type: 'fifo' })
  }),
  check('a socket is refused', async ({ sandbox, folder }) => {
    await output(sandbox, SOCKET, { args: [folder] })
    await expectRefusedKind(sandbox, `${folder}/socket`)
    expectFields(await sandbox.stat(`${folder}/socket`), { type: 'socket' })
  }),
  check('a device is refused', async ({ sandbox }) => {
    await expectRefusedKind(sandbox, '/dev/zero')
    expectFields(await sandbox.stat('/dev/zero'), { type: 'device' })
  }),
  check(
    'what the user may not read or write is a permission error',
    async ({ sandbox, folder }) => {
      const script =
        'mkdir -p "$1/secret/in" && echo s > "$1/secret/in/f" && echo r > "$1/file" && chmod 600 "$1/file" && chmod 700 "$1/secret"'
      await output(sandbox, script, { args: [folder] })
      const user = USER
      await expectFileError(sandbox.readFile(`${folder}/file`, { user }), 'permission')
      await expectFileError(sandbox.writeFile(`${folder}/file`, 'x', { user }), 'permission')
      await expectFileError(sandbox.writeFile(`${folder}/new`, 'x', { user }), 'permission')
      await expectFileError(sandbox.writeFile(`${folder}/new/deep`, 'x', { user }), 'permission')
      for (const path of ['secret/in/f', 'secret/in/none', 'secret/none'])
        await expectFileError(sandbox.readFile(`${folder}/${path}`, { user }), 'permission')
      await expectFileError(sandbox.list(`${folder}/secret`, { user }), 'permission')
      await expectFileError(sandbox.remove(`${folder}/file`, { user }), 'permission')
      await expectFileError(sandbox.remove(`${folder}/secret`, { user, recursive: true }), 'permission')
      expectEqual(await sandbox.readText(`${folder}/file`), 'r\n')
      expectEqual(await sandbox.readText(`${folder}/secret/in/f`), 's\n')
    },
    { needs: ['users'] },
  ),
  check(
    'a file that its user may not read is refused to that user too',
    async ({ sandbox, folder }) => {
      const user = USER
      await output(sandbox, 'mkdir -p "$1" && chown 1000:1000 "$1"', { args: [folder] })
      await output(sandbox, 'echo x > "$1/f" && chmod a-rw "$1/f"', { args: [folder], user })
      await expectFileError(sandbox.readFile(`${folder}/f`, { user }), 'permission')
      await expectFileError(sandbox.writeFile(`${folder}/f`, 'y', { user }), 'permission')
      expectEqual(await sandbox.readText(`${folder}/f`), 'x\n')
    },
    { needs: ['users'] },
  ),
  check(
    'file and made parents belong to the acting user, who can remove them',
    async ({ sandbox, folder }) => {
      await output(sandbox, 'mkdir -p "$1" && chown 1000:1001 "$1"', { args: [folder] })
      const user = '1000:1001'
      await sandbox.writeFile(`${folder}/a/b/c.sh`, 'echo 1', { user, mode: 0o755 })
      for (const path of ['a', 'a/b', 'a/b/c.sh'])
        expectFields(await sandbox.stat(`${folder}/${path}`), { uid: 1000, gid: 1001 })
      await sandbox.writeFile(`${folder}/a/b/c.sh`, 'echo 2')
      expectFields(await sandbox.stat(`${folder}/a/b/c.sh`), { uid: 1000, gid: 1001, mode: 0o755, size: 6 })
      expectSuccess(await sh(sandbox, 'rm -rf "$1/a"', { user, args: [folder] }))
      expectEqual(await sandbox.exists(`${folder}/a`), false)
    },
    { needs: ['users'] },
  ),
  check(
    'a file that is mounted is written in place',
    async ({ sandbox }) => {
      const old = await sandbox.readText('/etc/hosts')
      await sandbox.writeFile('/etc/hosts', '127.0.0.1 localhost\n')
      await sandbox.writeFile('/etc/hosts', '# more\n', { append: true })
      expectEqual(await output(sandbox, 'cat /etc/hosts'), '127.0.0.1 localhost\n# more')
      await sandbox.writeFile('/etc/hosts', old)
    },
    { needs: ['isolation'] },
  ),
]
