import { expect, test } from 'vitest'
import { DockerRun } from '../../support/docker.ts'
import { control } from './support.ts'

test('one volume carries the guest of a run; it is filled once, labelled, and goes with the run', async () => {
  const run = await DockerRun.open()
  const { engine } = run.provider
  const filters = { label: [`belljar.run=${run.run}`] }
  const volumes = async () => (await engine.control.listVolumes({ filters })).Volumes
  try {
    const started = await Promise.all(Array.from({ length: 6 }, () => run.start()))
    const [volume, ...more] = await volumes()
    expect(more).toEqual([])
    expect(volume?.Labels).toEqual({ 'belljar.run': run.run, 'belljar.owner': expect.any(String) })
    for (const { default: sandbox } of started) {
      const { Mounts } = await control(sandbox).inspect()
      expect(Mounts).toMatchObject([{ Name: volume?.Name, RW: false, Destination: '/.belljar' }])
    }
    await Promise.all(started.map((sandbox) => sandbox.remove()))
    expect(await volumes()).toHaveLength(1)
  } finally {
    await run[Symbol.asyncDispose]()
  }
  const again = await DockerRun.open()
  expect((await again.provider.engine.control.listVolumes({ filters })).Volumes ?? []).toEqual([])
  await again[Symbol.asyncDispose]()
})

test('after the objects of a run were removed, its next sandbox has a volume again', async () => {
  await using run = await DockerRun.open()
  await run.start()
  expect(await run.provider.remove({ run: run.run })).toEqual({ removed: 2, left: [] })
  const { default: sandbox } = await run.start()
  expect((await sandbox.exec(['echo', 'again'])).stdout).toBe('again\n')
})
