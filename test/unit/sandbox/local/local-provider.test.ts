import { existsSync } from 'node:fs'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { LocalProvider } from '../../../../src/sandbox/local/local-provider.ts'
import type { StartedSandbox } from '../../../../src/sandbox/provider.ts'
import { tempDir } from '../../../support/temp-dir.ts'
import { hasGuest } from '../guest/guest-process.ts'

const identity = (sample: string) => ({ run: 'r', eval: 'e', task: 't', sample, epoch: 1, attempt: 1 })
const isAlive = (pid: number) => existsSync(`/proc/${pid}`)

async function withSandbox(work: (started: StartedSandbox, provider: LocalProvider) => Promise<void>) {
  const provider = await LocalProvider.open()
  try {
    const config = await provider.resolve({ kind: 'local' })
    expect(config).toMatchObject({ description: 'local', reach: 'local: no isolation' })
    await work(await provider.sampleInit(config, identity('1'), {}), provider)
  } finally {
    await provider.close()
  }
}

const pwd = async ({ default: sandbox }: StartedSandbox) => (await sandbox.exec(['pwd'])).stdout.trim()

describe.runIf(hasGuest)('local sandboxes', () => {
  it('runs commands in a folder of its own that only its owner can enter, and removes it', async () => {
    let folder = ''
    await withSandbox(async (started) => {
      folder = await pwd(started)
      expect(folder.startsWith(join(tmpdir(), 'belljar-local-'))).toBe(true)
      expect((await stat(folder)).mode & 0o777).toBe(0o700)
      await started.default.writeFile('a/b.txt', 'text')
      expect(await readdir(join(folder, 'a'))).toEqual(['b.txt'])
      expect(await started.default.readText(join(folder, 'a/b.txt'))).toBe('text')
      expect(await started.remove()).toEqual({ removed: 1, left: [] })
      expect(await started.remove()).toEqual({ removed: 1, left: [] })
      await expect(started.default.exec(['true'])).rejects.toMatchObject({ reason: 'removed' })
    })
    expect(existsSync(folder)).toBe(false)
  })

  it('passes on nothing of the host environment but where programs are', async () => {
    process.env.BELLJAR_TEST_SECRET = 'hidden'
    await withSandbox(async (started) => {
      const { stdout } = await started.default.exec(['env'])
      expect(stdout).not.toContain('hidden')
      expect(stdout).toContain(`HOME=${await pwd(started)}\n`)
      expect(stdout).toContain('PATH=')
    })
    delete process.env.BELLJAR_TEST_SECRET
  })

  it('kills at the end what commands left behind, in whatever session', async () => {
    let pid = 0
    await withSandbox(async (started) => {
      await started.default.exec([
        'sh',
        '-c',
        "setsid sh -c 'echo $$ > pid; exec sleep 300' > /dev/null 2>&1 &",
      ])
      await sleep(200)
      pid = Number(await started.default.readText('pid'))
      expect(isAlive(pid)).toBe(true)
    })
    expect(isAlive(pid)).toBe(false)
  })

  it('stops the commands in flight', async () => {
    await withSandbox(async (started) => {
      const running = started.default.exec(['sleep', '300']).catch((error: unknown) => error)
      await sleep(100)
      expect(await started.stopCommands()).toEqual([['sleep', '300']])
      expect(await running).toMatchObject({ code: 'exec-aborted' })
    })
  })

  it('lists and removes by identity', async () => {
    await withSandbox(async (first, provider) => {
      const config = await provider.resolve({ kind: 'local' })
      await provider.sampleInit(config, identity('2'), {})
      expect(await provider.list()).toHaveLength(2)
      expect(await provider.remove({ run: 'r', sample: '2' })).toEqual({ removed: 1, left: [] })
      expect(await provider.list()).toEqual([identity('1')])
      expect((await first.default.exec(['true'])).exitCode).toBe(0)
      expect(await provider.remove({ run: 'other' })).toEqual({ removed: 0, left: [] })
    })
  })

  it('takes no configuration', async () => {
    const provider = await LocalProvider.open()
    await expect(provider.resolve({ kind: 'local', config: { image: 'x' } })).rejects.toThrow(
      'no configuration',
    )
  })

  it('copies folders in and out', async () => {
    await using host = await tempDir()
    await writeFile(join(host.path, 'file'), 'x')
    await withSandbox(async (started) => {
      await started.default.upload(host.path, 'in')
      await started.default.download('in', join(host.path, 'out'))
      expect(await readdir(join(host.path, 'out'))).toEqual(['file'])
    })
  })
})
