import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DockerRun } from '../../support/docker.ts'
import { control, failure, sh, TestImages, within } from './support.ts'

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

test('the guest is process 1, the host sends no exec, and the engine keeps no log', async () => {
  const { default: sandbox } = await run.start()
  expect((await sh(sandbox, 'cat /proc/1/comm; echo visible >&2')).stdout).toBe('guest\n')
  const { ExecIDs, HostConfig, Config } = await control(sandbox).inspect()
  expect(ExecIDs).toBeNull()
  expect(HostConfig).toMatchObject({ Init: false, AutoRemove: true, LogConfig: { Type: 'none' } })
  expect(Config).toMatchObject({ OpenStdin: true, StdinOnce: true, Tty: false, StopSignal: 'SIGKILL' })
  expect(await failure(control(sandbox).logs({ stdout: true, stderr: true }))).toBeDefined()
})

test('nothing inside can kill it or write to what it is made of', async () => {
  const { default: sandbox } = await run.start()
  expect((await sh(sandbox, 'kill -9 1; echo $?')).stdout).toBe('0\n')
  expect(await sh(sandbox, 'kill -9 -1; sleep 60')).toMatchObject({ signal: 'SIGKILL' })
  expect((await sh(sandbox, 'kill -TERM 1; kill -STOP 1; sleep 0.1; echo alive')).stdout).toBe('alive\n')
  const attempts = await sh(
    sandbox,
    'echo x > /.belljar/guest; rm -f /.belljar/guest; mount -o remount,rw /.belljar; cat /proc/1/environ; cat /proc/1/mem; echo forged > /proc/1/fd/1',
  )
  expect(attempts.stdout).toBe('')
  expect(attempts.stderr.match(/read-only|Read-only|denied|not permitted/gi)?.length).toBeGreaterThanOrEqual(
    5,
  )
  expect((await sh(sandbox, 'echo still')).stdout).toBe('still\n')
})

test('commands of a user other than root have that user, its groups and its own home', async () => {
  const tag = await images.build(
    'user',
    'FROM busybox\nRUN echo agent:x:1007:1007::/home/agent:/bin/sh >> /etc/passwd && echo extra:x:1500:agent >> /etc/group\nENV KEPT=yes\nUSER agent\n',
  )
  const { default: sandbox } = await run.start({ image: tag, env: { GIVEN: 'here' } })
  const { stdout } = await sh(
    sandbox,
    'id -u; id -g; id -G; echo $HOME $KEPT $GIVEN; pwd; touch made && stat -c %u made',
  )
  expect(stdout).toBe('1007\n1007\n1007 1500\n/home/agent yes here\n/work\n1007\n')
  expect((await sandbox.exec(['id', '-u'], { user: 'root' })).stdout).toBe('0\n')
  await expect(sandbox.writeFile('/etc/mine', 'x')).rejects.toMatchObject({ kind: 'permission' })
  await sandbox.writeFile('/etc/mine', 'x', { user: '0' })
  expect(await sandbox.stat('/etc/mine')).toMatchObject({ uid: 0 })
})

test('the volumes of an image are there, and go with the container', async () => {
  const tag = await images.build(
    'volume',
    'FROM busybox\nRUN mkdir /data && echo kept > /data/file\nVOLUME /data\n',
  )
  const started = await run.start({ image: tag })
  expect((await sh(started.default, 'cat /data/file; echo more >> /data/file')).stdout).toBe('kept\n')
  const filters = { label: [`belljar.run=${run.run}`] }
  const anonymous = async () =>
    (await run.provider.engine.control.listVolumes({ filters })).Volumes.filter(
      ({ Name }) => !Name.startsWith('belljar-guest-'),
    )
  expect(await anonymous()).toHaveLength(1)
  expect(await started.remove()).toEqual({ removed: 1, left: [] })
  expect(await anonymous()).toHaveLength(0)
})

test('a background server that writes to what it inherited lives on after its command', async () => {
  const { default: sandbox } = await run.start()
  const server =
    '(for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo tick; sleep 0.5; done; echo whole > /tmp/end) &'
  const started = await sh(sandbox, server)
  expect(started).toMatchObject({ exitCode: 0, background: true })
  await sleep(7000)
  expect(await sandbox.readText('/tmp/end')).toBe('whole\n')
})

test('stopping kills the commands in flight with their trees and leaves what was left on purpose', async () => {
  const started = await run.start()
  const { default: sandbox } = started
  await sh(sandbox, 'sleep 911 > /dev/null 2>&1 &')
  const running = [
    failure(sandbox.exec(['sleep', '912'])),
    failure(sh(sandbox, 'trap "" TERM; setsid sleep 913 & sleep 914')),
  ]
  const spawned = await sandbox.spawn(['sleep', '915'])
  await sleep(300)
  const stopped = await within(3000, started.stopCommands())
  expect(stopped.map((argv) => argv[0]).sort()).toEqual(['sh', 'sleep', 'sleep'])
  for (const error of await Promise.all(running)) expect(error).toMatchObject({ code: 'exec-aborted' })
  expect(await spawned.wait()).toMatchObject({ signal: 'SIGKILL' })
  const left = await sh(sandbox, 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -o "sleep 91[0-9]"')
  expect(left.stdout).toBe('sleep 911\n')
  expect(await started.stopCommands()).toEqual([])
})

test('twenty sandboxes whose processes ignore SIGTERM are gone at once', async () => {
  const sandboxes = await Promise.all(Array.from({ length: 20 }, () => run.start()))
  for (const { default: sandbox } of sandboxes)
    await sh(sandbox, 'trap "" TERM; sleep 600 > /dev/null 2>&1 &')
  const begin = performance.now()
  const reports = await Promise.all(sandboxes.map((sandbox) => sandbox.remove()))
  expect(reports.every(({ removed, left }) => removed === 1 && left.length === 0)).toBe(true)
  expect(performance.now() - begin).toBeLessThan(10_000)
  const filters = { label: [`belljar.run=${run.run}`] }
  for (const { default: sandbox } of sandboxes)
    expect(await failure(control(sandbox).inspect())).toMatchObject({ statusCode: 404 })
  expect(await run.provider.engine.control.listContainers({ filters })).not.toContainEqual(
    expect.objectContaining({ Id: control(sandboxes[0]!.default).id }),
  )
})

test('a flood that nobody reads does not keep a sandbox', async () => {
  const started = await run.start()
  const unread = await started.default.spawn(['sh', '-c', 'yes out & yes err >&2'])
  const capped = failure(started.default.exec(['sh', '-c', 'yes a & yes b >&2'], { maxOutputBytes: 1000 }))
  await sleep(500)
  expect(await within(3000, started.remove())).toEqual({ removed: 1, left: [] })
  expect(await capped).toMatchObject({ code: 'sandbox-unavailable', reason: 'removed' })
  expect(await failure(unread.wait())).toMatchObject({ reason: 'removed' })
})

test('removals at once, of a container that removes itself, all end with nothing left', async () => {
  for (let round = 0; round < 4; round += 1) {
    const identity = run.identity()
    const started = await run.start({ image: 'busybox:latest' }, { identity })
    const reports = await Promise.all([
      started.remove(),
      run.provider.remove(identity),
      run.provider.remove(identity),
    ])
    expect(reports.flatMap(({ left }) => left)).toEqual([])
  }
})
