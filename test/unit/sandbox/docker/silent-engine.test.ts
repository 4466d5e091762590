import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { userIds } from '../../../../src/sandbox/docker/container/user-ids.ts'
import { buildImage } from '../../../../src/sandbox/docker/image/build.ts'
import { deferred } from '../../../support/fake-run.ts'
import { tempDir } from '../../../support/temp-dir.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

it('an archive of which nothing comes is given up', async () => {
  const container = { streams: { getArchive: async () => new PassThrough() } }
  const ids = userIds(container as never, 'somebody')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await ids).toEqual({ uid: 0, gid: 0 })
})

it('a build that the engine does not even begin to answer is given up, and may pass', async () => {
  await using folder = await tempDir()
  await writeFile(join(folder.path, 'Dockerfile'), 'FROM scratch\n')
  const asked = deferred()
  const engine = { facts: {}, streams: { modem: { dial: () => asked.resolve() } } }
  const plan = { context: folder.path, dockerfile: 'Dockerfile', args: {} }
  const { signal } = new AbortController()
  const built = buildImage(engine as never, { plan, hash: 'h', tag: 't', signal } as never)
  const failed = expect(built).rejects.toMatchObject({ transient: true })
  await asked.promise
  await vi.advanceTimersByTimeAsync(1_800_000)
  await failed
})
