// One after the other: a run that begins sweeps what the other tests' dead runs are meant to have left.
import './anchor-tests.ts'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { connectEngine, type Engine } from '../../../src/sandbox/docker/engine/engine.ts'
import { identityLabels } from '../../../src/sandbox/docker/identity/labels.ts'
import { projectName } from '../../../src/sandbox/docker/identity/names.ts'
import { owner } from '../../../src/sandbox/docker/identity/owner.ts'
import { type CleanupOptions, cleanUp } from '../../../src/sandbox/docker/ownership/cleanup.ts'
import { Looks } from '../../../src/sandbox/docker/ownership/looks.ts'
import { overviewOf } from '../../../src/sandbox/docker/ownership/overview.ts'
import { engineTimeMs, survey } from '../../../src/sandbox/docker/ownership/survey.ts'
import { Sweep } from '../../../src/sandbox/docker/ownership/sweep.ts'
import { listObjects, removeObjects } from '../../../src/sandbox/docker/remove.ts'

const mark = `sweep-${randomBytes(4).toString('hex')}`
const DEAD = owner().replace(/:(\d+):(\d+):/, ':$1:1:')
const ELSEWHERE = 'other-host:1:55:4026532222:11111111-2222-3333-4444-555555555555'
let engine: Engine
let runs = 0

beforeAll(async () => {
  engine = await connectEngine()
})
beforeEach(() => removeMarked())
afterAll(async () => {
  await removeMarked()
  engine.close()
})

const marked = () => listObjects(engine, { label: [`belljar.test=${mark}`] })
const removeMarked = async () => void (await removeObjects(engine, await marked()))
const namesLeft = async () => (await marked()).map(({ name }) => name).sort()

interface Made {
  readonly owner: string
  readonly labels?: Record<string, string>
  readonly anchor?: 'none' | 'lost' | 'running'
}

/** What a run with one sandbox has on the engine: a container, a network and a volume. */
async function makeRun({ owner: ownerLabel, labels = {}, anchor = 'lost' }: Made): Promise<string> {
  runs += 1
  const run = `${mark}-${runs}`
  const identity = { run, eval: 'e', task: 't', sample: 'a/b', epoch: 1, attempt: 1 }
  const Labels = {
    ...identityLabels(identity, projectName(identity)),
    'belljar.owner': ownerLabel,
    'belljar.test': mark,
    ...(anchor !== 'none' && { 'belljar.anchor': 'held' }),
    ...labels,
  }
  const { control } = engine
  const Image = 'busybox:latest'
  await control.createNetwork({ Name: `${run}-net`, Labels, Internal: true })
  await control.createVolume({ Name: `${run}-vol`, Labels })
  await control.createContainer({ name: `${run}-box`, Image, Labels, Cmd: ['true'] })
  if (anchor === 'running') {
    const own = { 'belljar.run': run, 'belljar.owner': ownerLabel, 'belljar.anchor': 'true' }
    const options = {
      name: `${run}-anchor`,
      Image,
      Cmd: ['sleep', '600'],
      Labels: { ...own, 'belljar.test': mark },
    }
    await (await control.createContainer(options)).start()
  }
  return run
}

/** A sweep whose second looks come at once, on a clock that says otherwise. */
function sweep(run = `${mark}-sweeper`): { notes: string[]; done: Promise<void>; firstLook: Promise<void> } {
  const notes: string[] = []
  let nowMs = 0
  const clock = {
    now: () => nowMs,
    sleep: async (ms: number) => {
      nowMs += ms
    },
  }
  const note = (_level: string, message: string) => void notes.push(message)
  return { notes, ...new Sweep({ engine, run, clock, note, signal: new AbortController().signal }).begin() }
}

it('removes at its first look what a process of this machine has left, and says so once', async () => {
  await makeRun({ owner: DEAD })
  const { firstLook, notes, done } = sweep()
  await firstLook
  expect(await namesLeft()).toEqual([])
  await done
  expect(notes.filter((note) => note.includes('1 container, 1 network, 1 volume'))).toHaveLength(1)
})

it('removes only at its second look what a run elsewhere has left', async () => {
  await makeRun({ owner: ELSEWHERE })
  const { firstLook, done } = sweep()
  await firstLook
  await done
  expect(await namesLeft()).toEqual([])
})

it('leaves live runs, those that keep, and those that never had an anchor', async () => {
  const alive = await Promise.all([
    makeRun({ owner: owner() }),
    makeRun({ owner: ELSEWHERE, anchor: 'running' }),
    makeRun({ owner: ELSEWHERE, anchor: 'none' }),
    makeRun({ owner: DEAD, labels: { 'belljar.keep': 'failed' } }),
    makeRun({ owner: DEAD }),
  ])
  const before = await namesLeft()
  await sweep(alive[4]).done
  expect(await namesLeft()).toEqual(before)
})

const cleanup = (options: Partial<CleanupOptions>) => {
  let nowMs = 0
  const sleep = async (ms: number) => {
    nowMs += ms
  }
  return cleanUp(engine, { onWait: () => undefined, now: () => nowMs, sleep, ...options })
}

it('cleanup of a run looks twice where one look proves nothing, and says so before', async () => {
  const run = await makeRun({ owner: ELSEWHERE })
  const waits: unknown[] = []
  const { objects, inUse } = await cleanup({ run, onWait: (names) => waits.push(names) })
  expect(waits).toEqual([[run]])
  expect(objects).toHaveLength(3)
  expect(inUse).toEqual([])
  expect(await namesLeft()).toEqual([])
})

it('cleanup leaves a live run, but for --force, and its anchor even then', async () => {
  const run = await makeRun({ owner: ELSEWHERE, anchor: 'running' })
  expect(await cleanup({ run })).toMatchObject({ objects: [], inUse: [run] })
  expect(await namesLeft()).toHaveLength(4)
  await cleanup({ run, force: true })
  expect(await namesLeft()).toEqual([`${run}-anchor`])
})

it('cleanup removes what was kept, of one sample alone when asked', async () => {
  const run = await makeRun({ owner: DEAD, labels: { 'belljar.keep': 'all' } })
  expect((await cleanup({ run, sample: 'another' })).objects).toEqual([])
  expect((await cleanup({ run, sample: 'a/b', epoch: 2 })).objects).toEqual([])
  expect((await cleanup({ run, sample: 'a/b', dryRun: true })).objects).toHaveLength(3)
  expect(await namesLeft()).toHaveLength(3)
  await cleanup({ run, sample: 'a/b', epoch: 1 })
  expect(await namesLeft()).toEqual([])
})

it('an overview tells whose each sandbox is and how old', async () => {
  const made = await Promise.all([
    makeRun({ owner: DEAD }),
    makeRun({ owner: ELSEWHERE, anchor: 'running' }),
    makeRun({ owner: ELSEWHERE }),
    makeRun({ owner: DEAD, labels: { 'belljar.keep': 'all' } }),
  ])
  const seen = await survey(engine)
  const overview = overviewOf(seen, new Looks().take(seen, 0), await engineTimeMs(engine))
  const of = (run: string | undefined) => overview.find((one) => one.run === run && one.identity)
  expect(made.map((run) => of(run)?.belongs)).toEqual(['orphaned', 'alive', 'perhaps orphaned', 'kept'])
  expect(of(made[0])).toMatchObject({
    identity: { task: 't', sample: 'a/b' },
    containers: [{ name: `${made[0]}-box`, service: '', state: 'created' }],
    networks: 1,
    volumes: 1,
  })
  expect(of(made[0])?.ageMs).toBeLessThan(60_000)
})
