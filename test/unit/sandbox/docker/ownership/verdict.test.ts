import { describe, expect, it } from 'vitest'
import type { OwnerFacts } from '../../../../../src/sandbox/docker/identity/owner.ts'
import { parseOwner } from '../../../../../src/sandbox/docker/identity/owner.ts'
import { Looks } from '../../../../../src/sandbox/docker/ownership/looks.ts'
import { ownerState, type ProcessTable } from '../../../../../src/sandbox/docker/ownership/owner-state.ts'
import { judge, type RunSighting } from '../../../../../src/sandbox/docker/ownership/verdict.ts'

const sighting: RunSighting = {
  own: false,
  owner: 'unknown',
  anchored: false,
  anchorless: false,
  absentSinceMs: undefined,
  nowMs: 100_000,
}

describe('a run is', () => {
  it.each([
    ['alive when it is our own, whatever else is seen', { own: true, owner: 'dead' }, 'alive'],
    ['alive when its process is seen', { owner: 'alive' }, 'alive'],
    ['alive when its process is seen, long without an anchor', { owner: 'alive', absentSinceMs: 0 }, 'alive'],
    ['dead when its process is proved gone', { owner: 'dead' }, 'dead'],
    [
      'dead when its process is proved gone, its anchor still there',
      { owner: 'dead', anchored: true },
      'dead',
    ],
    ['alive when its anchor runs', { anchored: true }, 'alive'],
    ['alive when its anchor runs again', { anchored: true, absentSinceMs: 0 }, 'alive'],
    ['suspect at the first look without an anchor', {}, 'suspect'],
    ['suspect at a second look after less than a minute', { absentSinceMs: 40_001 }, 'suspect'],
    ['dead at a second look after a minute', { absentSinceMs: 40_000 }, 'dead'],
    ['never dead for want of an anchor that it never had', { anchorless: true, absentSinceMs: 0 }, 'suspect'],
    ['dead by its process when it never had an anchor', { anchorless: true, owner: 'dead' }, 'dead'],
  ] as const)('%s', (_name, facts, verdict) => {
    expect(judge({ ...sighting, ...facts })).toBe(verdict)
  })
})

describe('looks', () => {
  const absent = { run: 'a', owner: 'unknown', anchored: false, anchorless: false } as const

  it('count from the first one without the anchor', () => {
    const looks = new Looks()
    expect(looks.take([absent], 0).get('a')).toBe('suspect')
    expect(looks.take([absent], 59_999).get('a')).toBe('suspect')
    expect(looks.take([absent], 60_000).get('a')).toBe('dead')
  })

  it('begin anew when the anchor was seen in between', () => {
    const looks = new Looks()
    looks.take([absent], 0)
    expect(looks.take([{ ...absent, anchored: true }], 50_000).get('a')).toBe('alive')
    expect(looks.take([absent], 70_000).get('a')).toBe('suspect')
  })

  it('never doubt the run that looks', () => {
    const looks = new Looks('a')
    looks.take([absent], 0)
    expect(looks.take([absent], 100_000).get('a')).toBe('alive')
  })
})

describe('an owner', () => {
  const self: OwnerFacts = { host: 'h', pid: 7, start: '70', pidNamespace: '1', boot: 'b' }
  const owner: OwnerFacts = { ...self, pid: 8, start: '80' }
  const table = (facts: { exists: boolean; state?: string; start?: string }): ProcessTable => ({
    exists: () => facts.exists,
    stat: () => (facts.start ? { state: facts.state ?? 'S', start: facts.start } : undefined),
  })
  const alive = table({ exists: true, start: '80' })

  it.each([
    ['is alive when its process is there', owner, alive, 'alive'],
    ['is dead when its pid is free', owner, table({ exists: false }), 'dead'],
    ['is dead when its pid is that of a later process', owner, table({ exists: true, start: '99' }), 'dead'],
    ['is dead when nobody has reaped it', owner, table({ exists: true, state: 'Z', start: '80' }), 'dead'],
    ['is alive when its process hides its facts', owner, table({ exists: true }), 'alive'],
    [
      'is unknown in another pid namespace',
      { ...owner, pidNamespace: '2' },
      table({ exists: false }),
      'unknown',
    ],
    ['is unknown after another boot', { ...owner, boot: 'c' }, table({ exists: false }), 'unknown'],
    ['is unknown on another host', { ...owner, host: 'i' }, table({ exists: false }), 'unknown'],
    ['is unknown where there is no /proc', { ...owner, boot: '', pidNamespace: '' }, alive, 'unknown'],
    ['is unknown without a label', undefined, alive, 'unknown'],
  ] as const)('%s', (_name, facts, processes, state) => {
    expect(ownerState(facts, processes, self)).toBe(state)
  })

  it('is read from its label, and from one without namespace and boot', () => {
    expect(parseOwner('h:8:80:1:b')).toEqual(owner)
    expect(parseOwner('h:8:80')).toEqual({ ...owner, pidNamespace: '', boot: '' })
    for (const text of [undefined, '', 'h', 'h:x:80', 'h:0:80', ':8:80'])
      expect(parseOwner(text)).toBeUndefined()
  })
})
