import { expectEqual, expectFields, expectSuccess, expectTrue } from '../assertions.ts'
import { type ConformanceCheck, type ConformanceContext, check } from '../check.ts'
import { output, sh } from '../shell.ts'

const ODD = 'a b\'"$HOME`\\\n\tÜ 漢 🎉 =x= *?[x]'

/** A user `agent` with a home and a second group, as root makes one by hand. */
async function madeUser({ sandbox }: ConformanceContext): Promise<void> {
  await output(
    sandbox,
    `grep -q '^agent:' /etc/passwd && exit 0
echo 'agent:x:1234:1235::/home/agent:/bin/sh' >> /etc/passwd
echo 'agents:x:1235:' >> /etc/group
echo 'extra:x:1236:agent' >> /etc/group
mkdir -p /home/agent && chown 1234:1235 /home/agent`,
  )
}

export const execEnvironmentChecks: readonly ConformanceCheck[] = [
  check('variables arrive as given, over those of the sandbox', async ({ sandbox }) => {
    const env = { ODD, EMPTY: '', HOME: '/elsewhere' }
    expectEqual(
      await output(sandbox, 'printf "%s|%s|%s" "$ODD" "$EMPTY" "$HOME"; env | grep -qx EMPTY=', { env }),
      `${ODD}||/elsewhere`,
    )
    expectTrue((await output(sandbox, 'printf %s "$PATH"', { env })) !== '', 'a PATH beside given variables')
  }),
  check('a variable of one command is not in the next', async ({ sandbox }) => {
    await sh(sandbox, 'export ONCE=2', { env: { ONCE: '1' } })
    expectEqual(await output(sandbox, 'printenv ONCE || echo unset'), 'unset')
  }),
  check('a variable of 128 KB arrives', async ({ sandbox }) => {
    const LONG = 'y'.repeat(128 * 1024 - 'LONG='.length - 1)
    expectTrue(
      (await output(sandbox, 'printf %s "$LONG"', { env: { LONG } })) === LONG,
      'the value as it was sent',
    )
  }),
  check('nothing of the environment of this host gets in', async ({ sandbox }) => {
    const name = 'BELLJAR_CONFORMANCE_SECRET'
    process.env[name] = 'seen'
    try {
      expectEqual(await output(sandbox, `printf %s "\${${name}-unset}"`), 'unset')
    } finally {
      delete process.env[name]
    }
  }),
  check('without cwd a command runs in the working directory of the sandbox', async ({ sandbox, folder }) => {
    const workdir = folder.slice(0, folder.lastIndexOf('/'))
    expectEqual(await output(sandbox, 'pwd'), workdir || '/')
    await output(sandbox, 'echo here > from-cwd')
    expectEqual(await sandbox.readText(`${workdir}/from-cwd`), 'here\n')
    await sandbox.remove('from-cwd')
  }),
  check(
    'cwd is absolute, or below the working directory, whatever it is called',
    async ({ sandbox, folder }) => {
      const name = folder.slice(folder.lastIndexOf('/') + 1)
      const folders = ['plain', '-P', 'a b', "q'uote", 'Ünï', '$HOME', 'line\nbreak']
      await output(sandbox, 'mkdir -p "$1" && cd "$1" && shift && mkdir -- "$@"', {
        args: [folder, ...folders],
      })
      for (const each of folders) {
        expectEqual((await sandbox.exec(['pwd'], { cwd: `${folder}/${each}` })).stdout, `${folder}/${each}\n`)
        expectEqual((await sandbox.exec(['pwd'], { cwd: `${name}/${each}` })).stdout, `${folder}/${each}\n`)
      }
    },
  ),
  check(
    'a cwd that cannot be entered is a launch error, and the command does not run',
    async ({ sandbox, folder }) => {
      await sandbox.writeFile(`${folder}/file`, '')
      for (const cwd of [`${folder}/missing`, 'no/such/folder', `${folder}/file`]) {
        const result = await sh(sandbox, 'echo ran > "$1"', { cwd, args: [`${folder}/ran`] })
        expectEqual(result.launchError?.kind, 'no-such-cwd')
        expectFields(result, { exitCode: null, stdout: '' })
      }
      expectEqual(await sandbox.exists(`${folder}/ran`), false)
    },
  ),
  check(
    'a command runs as the user it names: name, uid, uid:gid',
    async (context) => {
      await madeUser(context)
      const { sandbox } = context
      const ids = (user?: string) => output(sandbox, 'echo "$(id -u) $(id -g)"', user ? { user } : {})
      expectEqual(await ids(), '0 0')
      expectEqual(await ids('agent'), '1234 1235')
      expectEqual(await ids('1234'), '1234 1235')
      expectEqual(await ids('4321:55'), '4321 55')
      expectEqual(await output(sandbox, 'whoami', { user: 'agent' }), 'agent')
      expectEqual(await output(sandbox, 'whoami', { user: 'root' }), 'root')
    },
    { needs: ['users'] },
  ),
  check(
    'a named user has the groups and the home of the files of the sandbox, an unknown uid has none',
    async (context) => {
      await madeUser(context)
      const look = (user: string) => output(context.sandbox, 'echo "$HOME $(id -G)"', { user })
      expectEqual(await look('agent'), '/home/agent 1235 1236')
      expectEqual(await look('98765'), '/ 0')
    },
    { needs: ['users'] },
  ),
  check(
    'a user that is not there is a launch error: no-such-user',
    async ({ sandbox }) => {
      const result = await sandbox.exec(['true'], { user: 'nobody-of-that-name' })
      expectEqual(result.launchError?.kind, 'no-such-user')
      expectFields(result, { exitCode: null, stdout: '', stderr: '' })
    },
    { needs: ['users'] },
  ),
  check(
    'a folder that the user may not enter is a launch error: no-such-cwd',
    async ({ sandbox, folder }) => {
      await output(sandbox, 'mkdir -p "$1" && chmod 700 "$1"', { args: [folder] })
      const result = await sandbox.exec(['pwd'], { cwd: folder, user: '1234' })
      expectEqual(result.launchError?.kind, 'no-such-cwd')
    },
    { needs: ['users'] },
  ),
  check(
    'the user of a command has no more rights than that user',
    async ({ sandbox, folder }) => {
      await sandbox.writeFile(`${folder}/secret`, 'x', { mode: 0o600 })
      const result = await sandbox.exec(['cat', `${folder}/secret`], { user: '1234:1234' })
      expectTrue(result.exitCode !== 0 && result.stdout === '', 'that cat is refused')
      expectSuccess(await sandbox.exec(['cat', `${folder}/secret`]))
    },
    { needs: ['users'] },
  ),
]
