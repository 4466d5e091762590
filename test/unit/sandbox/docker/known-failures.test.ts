import { expect, test } from 'vitest'
import { ENGINE_KNOWN_FAILURES } from '../../../../src/sandbox/docker/known-failures.ts'

test('each thing that the engine transport cannot do has a name of its own and a reason', () => {
  const names = ENGINE_KNOWN_FAILURES.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { name, reason } of ENGINE_KNOWN_FAILURES) {
    expect(name).toMatch(/^[a-z-]+$/)
    expect(reason).not.toBe('')
  }
})
