import { expect, it } from 'vitest'
import { endsWith, type ProcessSurroundings } from '../../../../../src/sandbox/docker/ownership/detachment.ts'

const host: ProcessSurroundings = { pidNamespace: '4026531836', environment: {}, cgroups: '' }

it.each([
  ['nothing on a host', {}, undefined],
  ['nothing where there is no /proc', { pidNamespace: '' }, undefined],
  ['its container', { pidNamespace: '4026532001' }, 'this container'],
  ['its batch job', { environment: { SLURM_JOB_ID: '7' } }, 'this Slurm job'],
  ['nothing on account of a variable that many use', { environment: { JOB_ID: '7' } }, undefined],
  [
    'its service',
    { environment: { INVOCATION_ID: 'x' }, cgroups: '0::/system.slice/nightly.service\n' },
    'the systemd service nightly.service',
  ],
  [
    'nothing in a login',
    {
      environment: { INVOCATION_ID: 'x' },
      cgroups: '0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope\n',
    },
    undefined,
  ],
] as const)('a detached process ends with %s', (_name, surroundings, end) => {
  expect(endsWith({ ...host, ...surroundings })).toBe(end)
})
