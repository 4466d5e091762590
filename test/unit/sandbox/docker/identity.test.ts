import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  identityFromLabels,
  identityLabels,
  selectorFilter,
} from '../../../../src/sandbox/docker/identity/labels.ts'
import { objectName, projectName } from '../../../../src/sandbox/docker/identity/names.ts'

const base = { run: 'r', eval: 'e', task: 't', sample: 's', epoch: 1, attempt: 1 }
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a-b', 'a_b', 'Ünï', '../../a b', ''))
const identity = fc.record({
  run: text,
  eval: text,
  task: text,
  sample: text,
  epoch: fc.nat(),
  attempt: fc.nat(),
})

test('an identity comes back from its labels, whatever its ids are', () => {
  fc.assert(
    fc.property(identity, (one) => {
      expect(identityFromLabels(identityLabels(one, 'project'))).toEqual(one)
    }),
  )
  expect(identityFromLabels({ 'belljar.run': 'x' })).toBeUndefined()
})

test('the sandbox of a verifier is told apart from that of the agent, and found with it', () => {
  const verifier = { ...base, part: 'verifier' } as const
  expect(projectName(verifier)).not.toBe(projectName(base))
  const labels = identityLabels(verifier, 'project')
  expect(identityFromLabels(labels)).toEqual(verifier)
  const fits = (selector: Parameters<typeof selectorFilter>[0]) =>
    selectorFilter(selector).label.every((label) => labels[label.split('=')[0] ?? ''] === label.split('=')[1])
  expect([fits({ run: 'r', sample: 's' }), fits(verifier)]).toEqual([true, true])
  expect(selectorFilter(verifier).label).toContain('belljar.part=verifier')
})

test('names are valid for Docker and Compose, short, and apart for different identities', () => {
  fc.assert(
    fc.property(identity, identity, text, (one, other, service) => {
      const name = objectName(projectName(one), service)
      expect(projectName(one)).toMatch(/^[a-z0-9][a-z0-9-]*$/)
      expect(name).toMatch(/^[a-z0-9][a-z0-9-]*$/)
      expect(name.length).toBeLessThanOrEqual(63)
      const same = JSON.stringify(one) === JSON.stringify(other)
      expect(projectName(one) === projectName(other)).toBe(same)
    }),
  )
})

test('ids that look alike have names of their own', () => {
  const ids = [
    'a-b',
    'a_b',
    'a b',
    'A-B',
    'a--b',
    'Ünï',
    'Uni',
    'x'.repeat(200),
    `${'x'.repeat(199)}y`,
    '../../a b',
    '-',
    '',
  ]
  const projects = ids.map((sample) => projectName({ ...base, sample }))
  expect(new Set(projects).size).toBe(ids.length)
  const services = ids.map((service) => objectName('bj-project', service))
  expect(new Set(services).size).toBe(ids.length)
})

test('a selector filters by the fields that it has', () => {
  expect(selectorFilter({ run: 'r1', sample: 'a=b', epoch: 0 })).toEqual({
    label: ['belljar.run=r1', 'belljar.sample=a=b', 'belljar.epoch=0'],
  })
})
