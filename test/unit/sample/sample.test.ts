import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/errors.ts'
import { parseSample } from '../../../src/sample/sample.ts'

describe('reading a sample', () => {
  it('gives a copy, with every field, and leaves the object as it is', () => {
    const given = Object.freeze({
      id: 'a1',
      input: 'question',
      target: ['a', 'b'],
      choices: ['x'],
      metadata: { level: 3 },
      sandbox: 'docker',
      files: {
        '/text': 'text',
        '/file': { path: './file' },
        'db:/sql': { url: 'https://example.org/x' },
        '/bytes': { data: new Uint8Array([1]) },
        '/base64': { data: 'aGk=' },
      },
      setup: 'true',
      solution: 'true',
      tests: { '/tests/check.sh': 'true' },
    })
    const sample = parseSample(given, 'here')
    expect(sample).toEqual({ ...given, sandbox: { kind: 'docker' } })
    expect(sample).not.toBe(given)
  })

  it.each<[string, unknown, RegExp]>([
    ['no input', {}, /field 'input'/],
    ['an unknown field', { input: 'x', inptu: 'y' }, /Unrecognized key.*inptu/],
    ['an empty id', { input: 'x', id: '' }, /field 'id'/],
    ['an id that is no number', { input: 'x', id: Number.NaN }, /field 'id'/],
    ['a target that is a number', { input: 'x', target: 6 }, /field 'target'/],
    ['a file without a name', { input: 'x', files: { '': 'x' } }, /field 'files/],
    ['a file that is a number', { input: 'x', files: { '/a': 1 } }, /field 'files\.\/a'/],
    [
      'a file of two kinds',
      { input: 'x', files: { '/a': { path: 'a', url: 'http://b/' } } },
      /field 'files\.\/a'/,
    ],
    [
      'an address that is none',
      { input: 'x', tests: { '/a': { url: 'nowhere' } } },
      /field 'tests\.\/a\.url'/,
    ],
    [
      'bytes that are no base64',
      { input: 'x', files: { '/a': { data: '%%%' } } },
      /field 'files\.\/a\.data'/,
    ],
    ['a sandbox of no form', { input: 'x', sandbox: 3 }, /field 'sandbox': sandbox: expected 'docker'/],
    ['text', 'just text', /expected object/],
    ['nothing', undefined, /expected object/],
  ])('refuses %s, naming place and field', (_what, value, message) => {
    const parse = () => parseSample(value, 'samples.jsonl:3')
    expect(parse).toThrow(ConfigError)
    expect(parse).toThrow(/^samples\.jsonl:3: invalid sample: /)
    expect(parse).toThrow(message)
  })

  it('names every field at fault at once', () => {
    expect(() => parseSample({ target: 1, choices: 'x' }, 'here')).toThrow(/'input'.*'target'.*'choices'/)
  })
})
