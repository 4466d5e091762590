import { InvalidArgumentError } from 'commander'
import { describe, expect, it } from 'vitest'
import {
  failOnError,
  positiveInteger,
  sampleLimit,
  taskArgument,
  wholeNumber,
} from '../../../src/cli/arguments.ts'
import { ConfigError } from '../../../src/errors.ts'

describe('an argument of a task (-T key=value)', () => {
  it.each<[string, Record<string, unknown>]>([
    ['shots=3', { shots: 3 }],
    ['name=a b', { name: 'a b' }],
    ['flag=true', { flag: true }],
    ['list=[a, 1]', { list: ['a', 1] }],
    ['map={a: 1}', { map: { a: 1 } }],
    ['text="3"', { text: '3' }],
    ['empty=', { empty: null }],
    ['equation=a=b', { equation: 'a=b' }],
    ['no=no', { no: 'no' }],
    ['lines=|\n  a\n  b', { lines: 'a\nb\n' }],
  ])('%j is read as YAML', (text, parsed) => {
    expect(taskArgument(text)).toEqual(parsed)
  })

  it('joins those given before', () => {
    expect(taskArgument('b=2', taskArgument('a=1'))).toEqual({ a: 1, b: 2 })
  })

  it.each(['shots', '=3', ''])('is refused without key and value: %j', (text) => {
    expect(() => taskArgument(text)).toThrow(InvalidArgumentError)
  })

  it('is refused when it was given before', () => {
    expect(() => taskArgument('a=2', { a: 1 })).toThrow("'a' was given already.")
  })

  it('is refused by name when its value is no YAML', () => {
    expect(() => taskArgument('list=[a')).toThrow(ConfigError)
    expect(() => taskArgument('list=[a')).toThrow(/^-T list: not a YAML value: \[a/)
  })

  it('cannot reach what every object has', () => {
    const parsed = taskArgument('__proto__={polluted: true}')
    expect(Object.keys(parsed)).toEqual(['__proto__'])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

describe('numbers on the command line', () => {
  it.each(['1', '16', '007'])('a whole number of at least 1: %s', (text) => {
    expect(positiveInteger(text)).toBe(Number(text))
  })

  it.each(['0', '-1', '1.5', '1e3', '', ' 3', 'three', '0x10'])('is refused: %j', (text) => {
    expect(() => positiveInteger(text)).toThrow(InvalidArgumentError)
  })

  it.each<[string, boolean | number]>([
    ['any', true],
    ['true', true],
    ['never', false],
    ['false', false],
    ['0.1', 0.1],
    ['5', 5],
  ])('errors fail an eval at %s', (text, parsed) => {
    expect(failOnError(text)).toBe(parsed)
  })

  it.each(['yes', '', ' ', 'TRUE', '0', '-1', '1.5', 'Infinity', 'constructor'])('and not at %j', (text) => {
    expect(() => failOnError(text)).toThrow(InvalidArgumentError)
  })

  it.each<[string, number | [number, number]]>([
    ['10', 10],
    ['5,10', [5, 10]],
  ])('samples are limited to %s', (text, parsed) => {
    expect(sampleLimit(text)).toEqual(parsed)
  })

  it.each(['', '-1', '1,', ',2', '1,2,3', '1-2', 'all'])('and not to %j', (text) => {
    expect(() => sampleLimit(text)).toThrow(InvalidArgumentError)
  })

  it('none is a whole number too', () => {
    expect([wholeNumber('0'), wholeNumber('12')]).toEqual([0, 12])
    for (const text of ['', '-1', '0.5', 'x']) expect(() => wholeNumber(text)).toThrow(InvalidArgumentError)
  })
})
