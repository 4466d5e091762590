import { ResumeConfigError, ResumeIdentityError, ResumeVersionError } from 'belljar'
import { describe, expect, it } from 'vitest'
import type { HeaderRecord } from '../../../../src/log/records/records.ts'
import { passGates } from '../../../../src/run/resume/gates.ts'
import { versionVerdict } from '../../../../src/run/resume/version-gate.ts'
import { headerRecord } from '../../../support/log-records.ts'

const identity: NonNullable<HeaderRecord['identity']> = {
  id: 'evals/shell',
  version: '2',
  dataset: { kind: 'fixed', count: 3, digest: 'd1' },
  scorers: [],
  parameters: {},
}
const header = (more: Partial<HeaderRecord> = {}) => headerRecord({ belljar: '1.2.0', identity, ...more })
const config = (more: Partial<HeaderRecord['config']>) => ({ config: { ...header().config, ...more } })
const pass = (recorded: HeaderRecord | undefined, current = header(), aliases: string[] = []) =>
  passGates({ log: 'x.eval', recorded, current, aliases })

describe('the version of a log', () => {
  it.each<[recorded: string, current: string, verdict: 'pass' | 'warn' | 'reject']>([
    ['1.2.0', '1.2.0', 'pass'],
    ['0.7.0-dev+abc', '0.7.0-dev+abc', 'pass'],
    ['0.0.0', '0.0.0', 'pass'],
    ['0.7.0', '0.7.3', 'warn'],
    ['1.2.0', '1.9.4', 'warn'],
    ['0.7.0', '0.8.0', 'reject'],
    ['1.2.0', '2.0.0', 'reject'],
    ['0.0.0', '0.0.1', 'reject'],
    ['0.7.0-dev', '0.7.0', 'reject'],
    ['0.7.0', '0.7.0-dev', 'reject'],
    ['garbage', '1.0.0', 'reject'],
    ['', '1.0.0', 'reject'],
    ['', '', 'reject'],
  ])('%s under %s: %s', (recorded, current, expected) => {
    const verdict = versionVerdict(recorded, current)
    const got = verdict.isAllowed ? (verdict.warning === undefined ? 'pass' : 'warn') : 'reject'
    expect(got).toBe(expected)
  })
})

describe('the gates of a resume', () => {
  it('let a log of the same task pass, and say what may change and did', () => {
    const more = config({ given: { maxSamples: 4, model: 'x' } })
    expect(pass(header(), header(more))).toMatchObject({
      changed: ['maxSamples: was not set, is 4'],
      warnings: [],
    })
  })

  it('refuse a log without a header or of another program by its version, before anything else', () => {
    expect(() => pass(undefined)).toThrow(ResumeVersionError)
    expect(() => pass(header({ belljar: '' }))).toThrow(/was not written by belljar/)
    const both = header({ belljar: '2.0.0', identity: { ...identity, id: 'other/task' } })
    expect(() => pass(both)).toThrow(ResumeVersionError)
  })

  it('refuse a log of another task, and say both ways out', () => {
    const other = header({ identity: { ...identity, id: 'other/shell' }, epochs: 7 })
    expect(() => pass(other)).toThrow(ResumeIdentityError)
    expect(() => pass(other)).toThrow(
      "x.eval: the log is of task 'other/shell', not of 'evals/shell'. Start a new run without resuming, or name 'other/shell' among the aliases of the task, if it was renamed.",
    )
    expect(
      pass(header({ identity: { ...identity, id: 'other/shell' } }), header(), ['other/shell']).changed,
    ).toEqual([])
  })

  it('compare only what both sides have', () => {
    const { identity: _none, ...legacy } = header()
    expect(pass(legacy as HeaderRecord).warnings).toEqual([])
    expect(pass(header(), legacy as HeaderRecord).warnings).toEqual([])
  })

  it.each<[string, Partial<HeaderRecord>, string]>([
    [
      'parameters',
      { task: { name: 'a-task', parameters: { shots: 3 } } },
      'parameters shots: was not set, is 3',
    ],
    [
      'another version of the task',
      { task: { name: 'a', version: '3', parameters: {} } },
      'version: was not set, is "3"',
    ],
    ['another model', { model: 'm2' }, 'model: was not set, is "m2"'],
    ['epochs', { epochs: 2 }, 'epochs: was 1, is 2'],
    ['scorers', { scorers: [{ name: 'exact', metrics: [] }] }, 'scorers: was [], is ["exact"]'],
    ['a limit', config({ limits: { turns: 3 } }), 'limits turns: was not set, is 3'],
    ['an output cap', config({ maxOutputBytes: 5 }), 'maxOutputBytes: was not set, is 5'],
    ['artifacts', config({ artifacts: ['/w'] }), 'artifacts: was not set, is ["/w"]'],
    ['a verifier', config({ verifier: { kind: 'docker' } }), 'verifier: was not set, is {"kind":"docker"}'],
    [
      'other data',
      { identity: { ...identity, dataset: { ...identity.dataset, digest: 'd2' } } },
      'dataset digest: was "d1", is "d2"',
    ],
    [
      'another sandbox',
      { identity: { ...identity, sandbox: { run: { kind: 'local' } } } },
      'sandbox asked: was not set, is {"run":{"kind":"local"}}',
    ],
  ])('refuse %s, and name the change', (_what, more, change) => {
    const refused = () => pass(header(), header(more))
    expect(refused).toThrow(ResumeConfigError)
    expect(refused).toThrow(
      `x.eval: what results depend on has changed since:\n  ${change}\nSet it back as it was, or start`,
    )
  })

  it('refuse a sandbox whose content has changed under the same name', () => {
    const sandboxes = (key: string) =>
      config({ sandboxes: [{ kind: 'docker', description: 'compose compose.yaml', key, reach: '' }] })
    expect(() => pass(header(sandboxes('k1')), header(sandboxes('k2')))).toThrow(
      'sandbox docker: compose compose.yaml: was "k1", is "k2"',
    )
    expect(pass(header(sandboxes('k1')), header()).changed).toEqual([])
  })

  it('let tags, status and the name of the data set change', () => {
    const renamed = {
      ...identity,
      status: 'deprecated' as const,
      dataset: { ...identity.dataset, name: 'new' },
    }
    expect(pass(header(), header({ identity: renamed })).changed).toEqual([])
  })
})
