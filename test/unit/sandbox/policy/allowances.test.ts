import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { isSandboxAllowance } from '../../../../src/sandbox/policy/allowances.ts'

const corpus = fileURLToPath(new URL('../../../../compose/invalid', import.meta.url))

it('every name that unlocks a refusal of the corpus can be named by a task', () => {
  const names = readdirSync(corpus)
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => [...readFileSync(join(corpus, name), 'utf8').matchAll(/^# refused: .* (\S+)$/gm)])
    .map((match) => match[1] ?? '')
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter((name) => !isSandboxAllowance(name))).toEqual([])
})

it.each(['everything', 'cap-add:', 'cap-add', 'privileged ', ''])('%j is no allowance', (name) => {
  expect(isSandboxAllowance(name)).toBe(false)
})
