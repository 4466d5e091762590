// biome-ignore-all lint/complexity/useMaxParams: columns of tables
import { describe, expect, it } from 'vitest'
import { defaultService } from '../../../../../src/sandbox/compose/map/default-service.ts'

function chosen(names: string[], marked: string[] = []): string {
  return defaultService(names, new Map(marked.map((name) => [name, { isDefault: true }])))
}

describe('the default service', () => {
  it.each([
    ['the marked one', ['a', 'b', 'main'], ['b'], 'b'],
    ['the one named default', ['client', 'default', 'main'], [], 'default'],
    ['then the one named main', ['client', 'db', 'main'], [], 'main'],
    ['then the one named client', ['client', 'db'], [], 'client'],
    ['then the only one', ['web'], [], 'web'],
    ['default, marked as such', ['default', 'other'], ['default'], 'default'],
  ])('is %s', (_, names, marked, expected) => {
    expect(chosen(names, marked)).toBe(expected)
  })

  it.each([
    ['nothing says which', ['db', 'web'], [], "There are db, web: mark one with 'x-default: true'"],
    ['two are marked', ['a', 'b'], ['a', 'b'], 'several services are marked x-default: a, b'],
    [
      'one is marked while another is named default',
      ['a', 'default'],
      ['a'],
      "'a' is marked x-default while another",
    ],
    ['there is none', [], [], 'no service to start'],
  ])('is an error where %s', (_, names, marked, expected) => {
    expect(() => chosen(names, marked)).toThrow(expected)
  })
})
