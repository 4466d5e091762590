import { describe, expect, it } from 'vitest'
import { SecretMask } from '../../../src/util/secret-mask.ts'

function maskOf(...values: string[]): SecretMask {
  const mask = new SecretMask()
  mask.add(values.map((value, index) => ({ name: `S${index}`, value })))
  return mask
}

describe('a text', () => {
  it.each([
    ['plain', 'sk-1234', 'key sk-1234, again sk-1234', 'key [secret S0], again [secret S0]'],
    ['in JSON', 'a"b\\c', JSON.stringify({ key: 'a"b\\c' }), '{"key":"[secret S0]"}'],
    [
      'in JSON that is a string of JSON',
      'a"b',
      JSON.stringify({ arguments: JSON.stringify({ key: 'a"b' }) }),
      '{"arguments":"{\\"key\\":\\"[secret S0]\\"}"}',
    ],
    ['in an address', 'p@ss/word', 'https://u:p%40ss%2Fword@host', 'https://u:[secret S0]@host'],
    ['without the line break that ends it', 'file-secret\n', 'cat: file-secret', 'cat: [secret S0]'],
    [
      'one line of several',
      '-----BEGIN-----\nMIIBVgIBADANBgkq\nend',
      '1: MIIBVgIBADANBgkq',
      '1: [secret S0]',
    ],
    ['half a character', 'bad\ud800half', 'a bad\ud800half b', 'a [secret S0] b'],
  ])('is masked: %s', (_what, secret, text, expected) => {
    expect(maskOf(secret).text(text)).toBe(expected)
  })

  it('has the longer of two secrets masked where one is a part of the other', () => {
    expect(maskOf('token', 'token-long').text('token-long token')).toBe('[secret S1] [secret S0]')
  })
})

describe('a JSON document', () => {
  it('stays JSON whatever the secret looks like, in texts and names', () => {
    const document = { type: 'event', at: 12345678, text: 'x 12345678 y', '12345678': ['","a":"'] }
    const masked = maskOf('12345678', '","a":"', 'event').json(JSON.stringify(document))
    expect(JSON.parse(masked)).toEqual({
      type: 'event',
      at: 12345678,
      text: 'x [secret S0] y',
      '[secret S0]': ['[secret S1]'],
    })
  })

  it('is masked where the secret has characters that JSON escapes', () => {
    const secret = 'line one\nline "two"'
    const json = JSON.stringify({ plain: secret, nested: JSON.stringify({ secret }) })
    expect(JSON.parse(maskOf(secret).json(json))).toEqual({
      plain: '[secret S0]',
      nested: '{"secret":"[secret S0]"}',
    })
  })

  it('is the same text where there is nothing to mask', () => {
    const json = '{"b":1e3 , "a":"x"}'
    expect(maskOf('secret').json(json)).toBe(json)
    expect(new SecretMask().json(json)).toBe(json)
  })
})

describe('a value', () => {
  it('is a copy where something is masked and itself otherwise', () => {
    const bytes = new Uint8Array([1])
    const value = { a: ['x', { b: 'sk-1' }], bytes, none: undefined }
    expect(maskOf('sk-1').value(value)).toEqual({ a: ['x', { b: '[secret S0]' }], bytes, none: undefined })
    expect(value.a[1]).toEqual({ b: 'sk-1' })
    expect(maskOf('other').value(value)).toBe(value)
  })

  it('may hold itself', () => {
    const value: { self?: unknown; key: string } = { key: 'sk-1' }
    value.self = value
    expect(maskOf('sk-1').value(value).key).toBe('[secret S0]')
  })

  it('that is an error is masked with its causes', () => {
    const error = new Error('outer sk-1', { cause: new Error('inner sk-1') })
    maskOf('sk-1').error(error)
    expect(`${error.stack} ${(error.cause as Error).message}`).not.toContain('sk-1')
    expect(error.message).toBe('outer [secret S0]')
  })
})
