import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FakeProvider, type FakeProviderOptions } from 'belljar/testing'
import { describe, expect, it } from 'vitest'
import {
  type Agent,
  ConfigError,
  enqueueSample,
  SampleSource,
  SandboxInitError,
  type Scorer,
} from '../../../src/index.ts'
import { evaluate } from '../../../src/run/evaluate.ts'
import type { TaskDefinition } from '../../../src/task/task.ts'
import { deferred, fakeRun, fakeTask, sample, status } from '../../support/fake-run.ts'
import { tempDir } from '../../support/temp-dir.ts'

const VERIFIER = { kind: 'fake', config: { image: 'judge' } }
const write =
  (files: Record<string, string>): Agent =>
  async ({ sandbox }) => {
    for (const [path, text] of Object.entries(files)) await sandbox.writeFile(path, text)
  }
/** What the scorer sees of some paths. */
const reads = (...paths: string[]): Scorer => ({
  name: 'reads',
  score: async ({ sandbox }) => {
    const found = await Promise.all(paths.map(async (path) => [path, await sandbox.exists(path)] as const))
    return { value: 1, metadata: Object.fromEntries(found) }
  },
})

const task = (definition: Partial<TaskDefinition> = {}) =>
  fakeTask({
    dataset: [sample('a')],
    agent: write({ '/w/out/1.txt': 'one', '/w/other.txt': 'secret' }),
    artifacts: ['/w/out'],
    verifier: VERIFIER,
    scorers: [reads('/w/out/1.txt', '/w/other.txt', '/tests/check')],
    ...definition,
  })

describe('a verifier', () => {
  it('gets the artifacts and the tests, and nothing else', async () => {
    const { records } = await fakeRun(task({ dataset: [sample('a', { tests: { '/tests/check': 'x' } })] }))
    expect(records[0]).toMatchObject({
      status: 'success',
      sandbox: { images: { default: 'sha256:default' } },
      verifier: { images: { default: 'sha256:judge' } },
      artifacts: [{ name: '/w/out', status: 'taken', bytes: 3 }],
      scores: { reads: { metadata: { '/w/out/1.txt': true, '/w/other.txt': false, '/tests/check': true } } },
    })
    const phases = ['wait', 'start', 'agent', 'artifacts', 'wait', 'start', 'tests', 'score']
    expect(records[0]?.phases.map(({ name }) => name)).toEqual(phases)
  })

  it('starts when nothing is left of the sandbox of the agent, also with one slot', async () => {
    const dataset = ['a', 'b', 'c'].map((id) => sample(id, { id }))
    const { provider, records, result } = await fakeRun(task({ dataset }), { maxSandboxes: 1, maxSamples: 3 })
    expect(records.map((record) => record.status)).toEqual(['success', 'success', 'success'])
    expect(provider.mostLive).toBe(1)
    expect(result.left).toEqual([])
    for (const id of ['a', 'b', 'c']) {
      const calls = provider.calls.filter((call) => call.endsWith(` ${id}`))
      expect(calls).toEqual([
        `sampleInit default ${id}`,
        `remove default ${id}`,
        `sampleInit judge ${id}`,
        `remove judge ${id}`,
      ])
    }
  })

  it('is initialised with the other configurations, once, and is in the header and the log', async () => {
    const { provider, log } = await fakeRun(task({ dataset: [sample('a'), sample('b')] }))
    expect(provider.calls.filter((call) => call.startsWith('taskInit')).sort()).toEqual([
      'taskInit default',
      'taskInit judge',
    ])
    expect(log[0]).toMatchObject({ config: { verifier: VERIFIER, artifacts: ['/w/out'] } })
    const configs = log.flatMap((record) => (record.type === 'config' ? [record.images] : []))
    expect(configs).toContainEqual({ default: 'sha256:judge' })
  })

  it('of the sample takes the place of that of the task', async () => {
    const own = { kind: 'fake', config: { image: 'own' } }
    const { records } = await fakeRun(task({ dataset: [sample('a', { verifier: own })] }))
    expect(records[0]?.verifier?.images).toEqual({ default: 'sha256:own' })
  })

  it('that cannot be made ready ends the eval before any agent works', async () => {
    let worked = false
    const provider = new FakeProvider({
      taskInit: (image) => {
        if (image === 'judge') throw new SandboxInitError('no such image')
      },
    })
    const agent: Agent = async () => {
      worked = true
    }
    const run = await fakeRun(task({ agent }), { provider })
    expect([status(run), worked]).toEqual(['error', false])
  })

  it('that does not start is an error of the sandbox, which can be tried again', async () => {
    let starts = 0
    const sampleInit: FakeProviderOptions['sampleInit'] = (image) => {
      if (image === 'judge' && ++starts === 1) throw new Error('no room')
    }
    const provider = new FakeProvider({ sampleInit })
    const { records } = await fakeRun(task({ retryInfra: 1 }), { provider })
    expect(records).toMatchObject([
      { status: 'success', earlier: [{ error: { kind: 'sandbox', message: 'no room' } }] },
    ])
    expect(provider.live.size).toBe(0)
  })

  it('that is being started when the run is cancelled is removed', async () => {
    const reached = deferred()
    const stop = new AbortController()
    const provider = new FakeProvider({
      sampleInit: async (image, _identity, { signal }) => {
        if (image !== 'judge') return
        reached.resolve()
        await new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason)),
        )
      },
    })
    void reached.promise.then(() => stop.abort(new Error('stopped')))
    const run = await fakeRun(task(), { provider, signal: stop.signal })
    expect(run.records).toMatchObject([{ status: 'cancelled' }])
    expect(run.provider.live.size).toBe(0)
  })

  it('of a sample that waits for one that it added takes its turn after it', async () => {
    const agent: Agent = async ({ sample: { input } }) => {
      if (input === 'child') return
      const [child] = enqueueSample(sample('child'))
      await child?.completed()
    }
    const definition = { dataset: SampleSource.fromSamples([sample('parent')]), agent, maxSamples: 1 }
    const two = await fakeRun(task(definition), { maxSandboxes: 2 })
    expect(two.records.map(({ input, status: ended }) => [input, ended])).toEqual([
      ['child', 'success'],
      ['parent', 'success'],
    ])
    expect(two.provider.calls.filter((call) => call.startsWith('sampleInit'))).toEqual([
      'sampleInit default 1',
      'sampleInit default 2',
      'sampleInit judge 2',
      'sampleInit judge 1',
    ])
    const dataset = SampleSource.fromSamples([sample('parent')])
    const one = await fakeRun(task({ ...definition, dataset, failOnError: false }), { maxSandboxes: 1 })
    expect(one.records.find(({ input }) => input === 'parent')?.error?.code).toBe('sandbox-deadlock')
  })

  it('is of its own identity, and what the agent left running is dead before anything is taken', async () => {
    const seen: string[] = []
    const provider = new FakeProvider({
      stopCommands: (image) => void seen.push(`stop ${image}`),
      sampleInit: (image, { part = 'agent' }) => void seen.push(`start ${image} ${part}`),
    })
    await fakeRun(task(), { provider })
    expect(seen).toEqual(['start default agent', 'stop default', 'start judge verifier'])
  })

  it('needs no sandbox of an agent', async () => {
    const { records } = await fakeRun(task({ sandbox: false, agent: 'nop', artifacts: undefined }))
    expect(records[0]).toMatchObject({ status: 'success', scores: { reads: {} } })
  })

  it.each([
    [{ verifier: 'docker' }, "verifier 'docker' needs a configuration"],
    [{ dataset: [sample('a', { verifier: { kind: 'local' } })] }, 'isolates nothing'],
  ])('%j is refused before anything starts', async (definition: Partial<TaskDefinition>, message) => {
    await expect(fakeRun(task({ verifier: undefined, ...definition }))).rejects.toThrow(message)
  })

  it.each(['out', '/', '/w/', '/w/../x', '/proc/1', '/dev', 'db:data'])('has no artifact %s', (path) => {
    expect(() => task({ artifacts: [path] })).toThrow(ConfigError)
  })
})

describe('artifacts', () => {
  async function kept(definition: Partial<TaskDefinition>, options: Parameters<typeof evaluate>[1] = {}) {
    await using logs = await tempDir()
    const { evals } = await evaluate(task({ verifier: undefined, failOnError: false, ...definition }), {
      logDir: logs.path,
      providers: { fake: async () => new FakeProvider() },
      ...options,
    })
    const folder = `${evals[0]?.log.replace(/\.eval$/, '')}.artifacts`
    const names = await readdir(folder, { recursive: true }).catch(() => [])
    const one = names.find((name) => name.endsWith('1.txt'))
    return { names, text: one && (await readFile(join(folder, one), 'utf8')) }
  }

  it('are kept beside the log, by sample, epoch and attempt', async () => {
    const { names, text } = await kept({})
    expect(names).toContain('1_epoch-1_attempt-1/w/out/1.txt')
    expect(text).toBe('one')
  })

  it('of a sample are added to those of the task, and what is missing or too large is told', async () => {
    const dataset = [sample('a', { artifacts: ['/w/other.txt', '/w/none', '/w/out'] })]
    const { records, log } = await fakeRun(task({ dataset, maxArtifactBytes: 5 }))
    expect(records[0]?.artifacts).toMatchObject([
      { name: '/w/out', status: 'taken' },
      { name: '/w/other.txt', status: 'too-large' },
      { name: '/w/none', status: 'missing' },
    ])
    const notes = log.flatMap((record) =>
      record.type === 'note' && record.level === 'warning' ? [record.message] : [],
    )
    expect(notes).toEqual([expect.stringContaining('artifact /w/other.txt was not taken (too-large)')])
  })

  it('are taken from an agent that failed, and then may be the only ones kept', async () => {
    const failing: Agent = async (context) => {
      await write({ '/w/out/1.txt': 'one' })(context)
      throw new Error('gave up')
    }
    expect((await kept({ agent: failing }, { keepArtifacts: 'failed' })).text).toBe('one')
    expect((await kept({}, { keepArtifacts: 'failed' })).names).toEqual([])
    expect((await kept({ agent: failing }, { keepArtifacts: 'none' })).names).toEqual([])
  })
})
