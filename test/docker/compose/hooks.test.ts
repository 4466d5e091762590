import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { composeCommand } from '../../../src/sandbox/compose/read/plugin.ts'
import { ComposeRun } from '../../support/compose.ts'

/** What a hook is and where it runs. */
const TELL = (name: string) =>
  `echo "$$(id -un) $$(pwd) $\${A-} $\${OWN-}$\${BARE-}" >> /told/${name}; cat /proc/1/comm >> /told/${name}`
const COMPOSE = `
services:
  main:
    image: busybox:latest
    init: true
    command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.1; done"]
    working_dir: /srv
    environment: { OWN: service }
    user: daemon
    stop_grace_period: 5s
    volumes: ["./told:/told"]
    post_start:
      - { command: [sh, -c, '${TELL('start')}'] }
      - { command: [sh, -c, '${TELL('start')}'], user: root, working_dir: /tmp, environment: { A: hook, BARE: } }
    pre_stop:
      - { command: [sh, -c, '${TELL('stop')}'], user: root, environment: [A=stop] }
      - { command: [sh, -c, '${TELL('stop')}'], user: "0", working_dir: / }
`

async function toldIn(folder: string): Promise<Record<string, string>> {
  const read = (name: string) => readFile(join(folder, 'told', name), 'utf8')
  const told = { start: await read('start'), stop: await read('stop').catch(() => 'nothing') }
  await rm(join(folder, 'told'), { recursive: true })
  return told
}

async function makeTold(folder: string): Promise<void> {
  await mkdir(join(folder, 'told'))
  await chmod(join(folder, 'told'), 0o777)
}

it('hooks run as those of Compose do: user, folder, environment and order', async () => {
  await using compose = await ComposeRun.open(COMPOSE)
  const { file, leading } = await composeCommand()
  const options = {
    env: { ...process.env, DOCKER_CONFIG: '/nonexistent' },
    cwd: compose.folder,
    timeout: 60_000,
  }
  const call = (...words: string[]) =>
    promisify(execFile)(
      file,
      [...leading, '-f', 'compose.yaml', '-p', `belljar-hooks-${process.pid}`, ...words],
      options,
    )

  await makeTold(compose.folder)
  await call('up', '-d', '--wait')
  await call('down', '-v')
  const theirs = await toldIn(compose.folder)

  await makeTold(compose.folder)
  await (await compose.start()).remove()
  expect(await toldIn(compose.folder)).toEqual(theirs)
  expect(theirs).toEqual({
    start: 'daemon /srv  service\ndocker-init\nroot /tmp hook service\ndocker-init\n',
    stop: 'root /srv stop service\ndocker-init\nroot /  service\ndocker-init\n',
  })
})
