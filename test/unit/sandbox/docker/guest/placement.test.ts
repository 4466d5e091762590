import { describe, expect, it } from 'vitest'
import { forgery, placeGuest } from '../../../../../src/sandbox/docker/guest/placement.ts'
import type { ContainerPlan } from '../../../../../src/sandbox/sandbox-plan.ts'

const plan = (more: Partial<ContainerPlan> = {}): ContainerPlan => ({
  command: null,
  env: [],
  hostConfig: {},
  extra: {},
  ...more,
})
const SIX = ['SETUID', 'SETGID', 'KILL', 'SETPCAP', 'DAC_OVERRIDE', 'CHOWN']

describe('where the guest is', () => {
  it.each([
    ['the main process of an image with a command', plan(), [], { kind: 'init', asRoot: true }],
    ['beside an ENTRYPOINT', plan(), ['/e'], { kind: 'exec', asRoot: true }],
    [
      'the main process where that is cleared',
      plan({ entrypoint: [] }),
      ['/e'],
      { kind: 'init', asRoot: true },
    ],
    [
      'beside an entrypoint that is asked for',
      plan({ entrypoint: ['/e'] }),
      [],
      { kind: 'exec', asRoot: true },
    ],
    ['beside a command of a service', plan({ command: ['x'] }), [], { kind: 'exec', asRoot: true }],
    ["beside an image's own command", plan({ command: undefined }), [], { kind: 'exec', asRoot: true }],
    [
      'root with the six capabilities that it needs',
      plan({ hostConfig: { CapDrop: ['ALL'], CapAdd: SIX } }),
      [],
      { kind: 'init', asRoot: true },
    ],
    [
      "the service's user without one of them",
      plan({ hostConfig: { CapDrop: ['CAP_CHOWN'] } }),
      [],
      { kind: 'init', asRoot: false },
    ],
    [
      "the service's user without all",
      plan({ hostConfig: { CapDrop: ['all'] } }),
      ['/e'],
      { kind: 'exec', asRoot: false },
    ],
  ] as const)('%s', (_what, container, entrypoint, expected) => {
    expect(placeGuest(container, entrypoint, undefined)).toEqual(expected)
  })

  it.each([
    { Privileged: true },
    { CapAdd: ['CAP_SYS_ADMIN'] },
    { CapAdd: ['sys_admin'] },
    { CapAdd: ['ALL'] },
  ])('nowhere where its volume could be made writable: %j', (hostConfig) => {
    expect(placeGuest(plan({ hostConfig }), [], undefined)).toMatchObject({ kind: 'engine' })
  })

  it('nowhere where there is none', () => {
    expect(placeGuest(plan(), [], 'there is none')).toEqual({ kind: 'engine', reason: 'there is none' })
  })
})

describe('who could forge results', () => {
  it.each([
    [{}, '', undefined],
    [{ CapAdd: ['SYS_PTRACE'] }, 'agent', /SYS_PTRACE/],
    [{ Runtime: 'runsc' }, '', /gVisor/],
    [{ Runtime: 'runsc' }, '0:0', /gVisor/],
    [{ Runtime: 'runsc' }, '1000', undefined],
    [{ Runtime: 'runc' }, 'root', undefined],
  ])('with %j as %j', (hostConfig, user, expected) => {
    const reason = forgery(plan({ hostConfig }), user)
    if (expected === undefined) expect(reason).toBeUndefined()
    else expect(reason).toMatch(expected)
  })
})
