import { ConfigError, defineTask, SampleSource, type TaskDefinition } from 'belljar'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const fine: TaskDefinition = { name: 'shell', dataset: [{ input: 'x' }], agent: 'nop' }
const withFields = (fields: object) => () => defineTask({ ...fine, ...fields } as TaskDefinition)

describe('defining a task', () => {
  it.each<[string, object]>([
    ['a source', { dataset: new SampleSource() }],
    ['a function that makes a source', { dataset: () => new SampleSource() }],
    ['an agent of its own', { agent: async () => 'done' }],
    ['no sandbox', { sandbox: false }],
    ['a sandbox as text', { sandbox: 'docker:compose.yaml' }],
    ['limits', { limits: { timeMs: 1000, turns: 3 } }],
  ])('takes %s', (_what, fields) => {
    expect(withFields(fields)().name).toBe('shell')
  })

  it.each<[string, object, RegExp]>([
    ['an unknown field', { epoch: 2 }, /epoch/],
    ['a name of blanks', { name: ' ' }, /name: /],
    ['no data set', { dataset: undefined }, /dataset: expected an array of samples, fileDataset/],
    ['a data set by name', { dataset: 'data.jsonl' }, /dataset: expected an array of samples, fileDataset/],
    ['no agent', { agent: undefined }, /agent: expected an agent/],
    [
      'an agent that nobody knows',
      { agent: 'genius' },
      /unknown agent 'genius'; expected a function or one of oracle, nop/,
    ],
    ['an agent named like a part of every object', { agent: 'constructor' }, /unknown agent 'constructor'/],
    ['a scorer that is none', { scorers: [{ name: 'x' }] }, /scorers\.0: expected a scorer/],
    ['no epochs', { epochs: 0 }, /epochs: /],
    ['half a sample at once', { maxSamples: 0.5 }, /maxSamples: /],
    ['a limit that nobody knows', { limits: { time: 3 } }, /limits: .*time/],
    ['a limit of nothing', { limits: { timeMs: 0 } }, /limits\.timeMs: /],
    ['a negative prefetch', { prefetch: -1 }, /prefetch: /],
    [
      'an allowance that nobody knows',
      { allow: ['cap-add:NET_ADMIN', 'added-paths', 'everything'] },
      /allow\.2: unknown name 'everything'; known are added-paths.*privileged.*cap-add:\.\.\./,
    ],
    ['a sandbox without kind', { sandbox: { image: 'x' } }, /sandbox/],
    ['a sandbox file of no kind', { sandbox: 'docker:notes.txt' }, /notes\.txt/],
  ])('refuses %s by name', (_what, fields, message) => {
    expect(withFields(fields)).toThrow(ConfigError)
    expect(withFields(fields)).toThrow(message)
  })

  it('names the task and every field at fault', () => {
    expect(withFields({ epochs: -1, tags: 'x' })).toThrow(/^task 'shell': epochs: .*; tags: /)
    expect(() => defineTask(undefined as never)).toThrow(/^task 'without a name': /)
  })
})

describe('a task with parameters', () => {
  const factory = defineTask(
    {
      name: 'shots',
      version: '2',
      parameters: z.object({ shots: z.number().int().min(0).default(3), mode: z.string().optional() }),
    },
    ({ shots }) => ({ ...fine, epochs: shots + 1 }),
  )

  it('is built from its arguments and defaults, under its own name and version', () => {
    const { task, parameters } = factory.create({ mode: 'x' })
    expect(parameters).toEqual({ shots: 3, mode: 'x' })
    expect(task.definition).toMatchObject({ name: 'shots', version: '2', epochs: 4 })
  })

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['unknown', { shot: 3 }, /^task 'shots': unknown parameter 'shot' \(expected parameters: shots, mode\)$/],
    ['of the wrong type', { shots: 'many' }, /parameter 'shots': .*\(expected parameters: shots, mode\)/],
    ['out of range', { shots: -1 }, /parameter 'shots': /],
  ])('refuses an argument that is %s', (_what, given, message) => {
    expect(() => factory.create(given)).toThrow(ConfigError)
    expect(() => factory.create(given)).toThrow(message)
  })

  it('takes none where it declares none', () => {
    const plain = defineTask({ name: 'plain' }, () => fine)
    expect(plain.create({}).parameters).toEqual({})
    expect(() => plain.create({ a: 1 })).toThrow(/unknown parameter 'a' \(expected parameters: none\)/)
  })

  it('is refused like any task when what it builds is wrong', () => {
    const broken = defineTask({ name: 'broken' }, () => ({ ...fine, epochs: 0 }))
    expect(() => broken.create({})).toThrow(/^task 'broken': epochs: /)
  })
})
