import { afterEach, expect, it } from 'vitest'
import { survey } from '../../../src/sandbox/docker/ownership/survey.ts'
import type { RunClaim } from '../../../src/sandbox/provider.ts'
import { DockerRun } from '../../support/docker.ts'

let run: DockerRun | undefined
afterEach(async () => {
  await run?.[Symbol.asyncDispose]()
  run = undefined
})

async function claimed(claim: Partial<RunClaim> = {}): Promise<{ run: DockerRun; notes: string[] }> {
  run = await DockerRun.open()
  const notes: string[] = []
  run.provider.claim({ run: run.run, note: (_level, message) => notes.push(message), ...claim })
  return { run, notes }
}

async function seen({ run, provider }: DockerRun) {
  return (await survey(provider.engine)).find((one) => one.run === run)
}

async function anchors(of: DockerRun): Promise<string[]> {
  const objects = (await seen(of))?.objects ?? []
  return objects.filter(({ labels }) => labels['belljar.anchor'] === 'true').map(({ name }) => name)
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 100))
}

it('a run makes one anchor, and what it makes says so', async () => {
  const { run } = await claimed()
  await Promise.all([run.start(), run.start()])
  const found = await seen(run)
  expect(found).toMatchObject({ anchored: true, anchorless: false, owner: 'alive' })
  expect(await anchors(run)).toEqual([`bj-anchor-${run.run}-1`])
  const values = found?.objects.map(({ labels }) => labels['belljar.anchor']).sort()
  expect(values?.slice(0, 2)).toEqual(['held', 'held'])
})

it('the anchor is made anew when the engine has lost it', async () => {
  const { run } = await claimed()
  await run.start()
  const [first = ''] = await anchors(run)
  await run.provider.engine.control.getContainer(first).kill()
  await until(async () => (await anchors(run)).includes(`bj-anchor-${run.run}-2`))
  await until(async () => (await seen(run))?.anchored === true)
})

it('the anchor goes with the run, and is not made anew', async () => {
  const { run } = await claimed()
  await run.start()
  expect((await run.provider.remove({ run: run.run })).left).toEqual([])
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(await seen(run)).toBeUndefined()
})

it('a run that nobody has claimed has no anchor, and nothing says that it has', async () => {
  run = await DockerRun.open()
  await run.start()
  expect(await seen(run)).toMatchObject({ anchored: false, anchorless: true })
})
