import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SandboxReport } from '../../../src/sandbox/provider.ts'
import { DockerRun } from '../../support/docker.ts'
import { control, failure, sh, startCompose, TestImages, within } from './support.ts'

let run: DockerRun
let images: TestImages

beforeAll(async () => {
  run = await DockerRun.open()
  images = new TestImages(run)
})
afterAll(async () => {
  await run[Symbol.asyncDispose]()
  await images[Symbol.asyncDispose]()
})

const FIRST_GUEST =
  'for p in $(ls /proc | sort -n); do [ "$(cat /proc/$p/comm 2>/dev/null)" = guest ] && ACT && break; done'
const KILL_GUEST = `${FIRST_GUEST.replace('ACT', 'kill -9 $p')}; sleep 5`

test('an image with ENTRYPOINT keeps it; the guest is one exec at first use, as root, commands as the user', async () => {
  const tag = await images.build(
    'entrypoint',
    'FROM busybox\nRUN echo agent:x:1007:1007::/home/agent:/bin/sh >> /etc/passwd && printf \'#!/bin/sh\\necho prepared > /tmp/prepared\\nexec "$@"\\n\' > /e.sh && chmod +x /e.sh\nENTRYPOINT ["/e.sh"]\nCMD ["false"]\nUSER agent\n',
  )
  const { default: sandbox } = await run.start({ image: tag })
  expect((await control(sandbox).inspect()).ExecIDs).toBeNull()
  expect((await sh(sandbox, 'cat /tmp/prepared; id -u; echo $HOME')).stdout).toBe(
    'prepared\n1007\n/home/agent\n',
  )
  await Promise.all(Array.from({ length: 5 }, () => sh(sandbox, 'true')))
  expect((await control(sandbox).inspect()).ExecIDs).toHaveLength(1)
  expect((await sandbox.exec(['id', '-u'], { user: '0' })).stdout).toBe('0\n')
})

test('a guest that is killed from inside is started again once, and then no more', async () => {
  const reports: SandboxReport[] = []
  const context = { report: (report: SandboxReport) => reports.push(report) }
  const { default: sandbox } = await run.start(
    { image: 'busybox:latest', entrypoint: ['sh', '-c', 'sleep 600'] },
    { context },
  )
  await sh(sandbox, 'echo kept > /tmp/file')
  expect(await within(4000, failure(sh(sandbox, KILL_GUEST)))).toMatchObject({
    code: 'sandbox-unavailable',
    reason: 'killed',
  })
  expect((await sh(sandbox, 'cat /tmp/file')).stdout).toBe('kept\n')
  expect(
    reports.filter(({ kind, message }) => kind === 'warning' && /started again/.test(message)),
  ).toHaveLength(1)
  expect(await within(4000, failure(sh(sandbox, KILL_GUEST)))).toMatchObject({ reason: 'killed' })
  expect(await failure(sh(sandbox, 'true'))).toMatchObject({
    reason: 'killed',
    message: expect.stringMatching(/twice/),
  })
})

test('a service on a read-only root with a user, added groups and fewer capabilities', async () => {
  const reduced = await startCompose(
    run,
    'services:\n  box:\n    image: busybox:latest\n    command: ["sleep", "600"]\n    read_only: true\n    tmpfs: [/tmp]\n    user: "1234:1235"\n    group_add: ["1600"]\n',
  )
  const { default: sandbox } = reduced
  expect((await sh(sandbox, 'id -u; id -G; touch /x; echo ok > /tmp/y; cat /tmp/y')).stdout).toBe(
    '1234\n1235 1600\nok\n',
  )
  await expect(sandbox.writeFile('/x', 'x', { user: '0' })).rejects.toMatchObject({ kind: 'read-only' })
  await sandbox.writeFile('/tmp/z', 'x')
  expect(await sandbox.stat('/tmp/z')).toMatchObject({ uid: 1234, gid: 1235 })
})

test("where a file drops the capabilities, commands are the service's user and no other", async () => {
  const { default: sandbox } = await startCompose(
    run,
    'services:\n  box:\n    image: busybox:latest\n    command: ["sleep", "600"]\n    init: true\n    user: "1234"\n    cap_drop: [ALL]\n',
  )
  expect((await sandbox.exec(['id', '-u'])).stdout).toBe('1234\n')
  expect(await failure(sandbox.exec(['true'], { user: '0' }))).toMatchObject({ code: 'unsupported' })
  expect(await failure(sandbox.exec(['sleep', '60'], { timeoutMs: 200 }))).toMatchObject({
    code: 'exec-timeout',
  })
})

test('a privileged service has no guest, and that is told once', async () => {
  const reports: SandboxReport[] = []
  const spec = { kind: 'docker', config: { image: 'busybox:latest' } }
  const { provider } = await DockerRun.open({ transport: 'engine' })
  const config = await provider.resolve(spec, { taskDirectory: '/' })
  const facts = await provider.taskInit(config, { report: (report) => reports.push(report) })
  await provider.taskInit(config, { report: (report) => reports.push(report) })
  expect(facts.transports).toEqual({ default: 'engine' })
  expect(reports.filter(({ message }) => /without a guest/.test(message))).toHaveLength(1)
  await provider.close()
})

test('a service that cannot run the guest is served by the Engine, and that is told', async () => {
  const reports: SandboxReport[] = []
  const context = { report: (report: SandboxReport) => reports.push(report) }
  const { default: sandbox } = await startCompose(
    run,
    'services:\n  box:\n    image: busybox:latest\n    command: ["sleep", "600"]\n    init: true\n    tmpfs: ["/.belljar:noexec"]\n',
    { context },
  ).catch((error: unknown) => Promise.reject(error))
  expect((await sh(sandbox, 'echo served')).stdout).toBe('served\n')
  expect(reports.some(({ message }) => /exec is used/.test(message))).toBe(true)
})

test('a service that its own policy starts again is told as that, not as a guest that was killed', async () => {
  const { default: sandbox } = await startCompose(
    run,
    'services:\n  box:\n    image: busybox:latest\n    init: true\n    restart: always\n    command: ["sh", "-c", "while [ ! -e /tmp/end ]; do sleep 0.1; done; rm /tmp/end; exit 3"]\n',
  )
  await failure(sh(sandbox, 'touch /tmp/end; sleep 5'))
  await sleep(1500)
  expect(await failure(sh(sandbox, 'echo up'))).toMatchObject({
    code: 'sandbox-unavailable',
    reason: 'exited',
  })
})

test('something that writes to the stream of the guest ends the sandbox as tampered', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belljar-guest-test-'))
  await writeFile(
    join(folder, 'compose.yaml'),
    'services:\n  box:\n    image: busybox:latest\n    command: ["sleep", "600"]\n    init: true\n    cap_add: [SYS_PTRACE]\n',
  )
  const reports: SandboxReport[] = []
  const { provider } = run
  const spec = { kind: 'docker', config: { compose: 'compose.yaml' } }
  const config = await provider.resolve(spec, { taskDirectory: folder, allow: ['cap-add:SYS_PTRACE'] })
  await rm(folder, { recursive: true })
  await provider.taskInit(config, { report: (report) => reports.push(report) })
  expect(reports.some(({ message }) => /SYS_PTRACE lets root in it forge/.test(message))).toBe(true)
  const { default: sandbox } = await provider.sampleInit(config, run.identity(), {})
  const forge = FIRST_GUEST.replace(
    'ACT',
    'printf "0123456789abcdef0123456789abcdef0123456789" > /proc/$p/fd/1',
  )
  expect(await within(4000, failure(sh(sandbox, `${forge}; sleep 5`)))).toMatchObject({ reason: 'tampered' })
  expect(await failure(sh(sandbox, 'true'))).toMatchObject({ reason: 'tampered' })
})
