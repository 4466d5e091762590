import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { movedBinds } from '../../../../src/sandbox/policy/moved-binds.ts'
import type { SandboxPlan } from '../../../../src/sandbox/sandbox-plan.ts'

let folder = ''

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'belljar-binds-')))
  mkdirSync(join(folder, 'data/sub'), { recursive: true })
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

function planWith(hostConfig: Record<string, unknown>): SandboxPlan {
  const service = {
    name: 'app',
    image: { kind: 'reference' as const, reference: 'x', pull: 'never' as const },
    container: { env: [], extra: {}, hostConfig },
    networks: [],
    dependsOn: [],
  }
  return { services: [service], networks: [], volumes: [], defaultService: 'app' }
}

describe.each([
  ['Binds', (path: string) => ({ Binds: [`${path}:/d:rw`] })],
  ['Mounts', (path: string) => ({ Mounts: [{ Type: 'bind', Source: path, Target: '/d' }] })],
])('a folder mounted by %s', (_, hostConfig) => {
  it('is refused once a link has taken its place', async () => {
    const path = join(folder, 'data/sub')
    const plan = planWith(hostConfig(path))
    expect(await movedBinds(plan, { taskDirectory: folder })).toEqual([])
    rmSync(path, { recursive: true })
    symlinkSync('/etc', path)
    expect(await movedBinds(plan, { taskDirectory: folder })).toMatchObject([{ allow: `bind:${path}` }])
    expect(await movedBinds(plan, { taskDirectory: folder, allow: [`bind:${path}`] })).toEqual([])
  })
})

it('passes over named volumes', async () => {
  const plan = planWith({ Binds: ['data:/d:rw'], Mounts: [{ Type: 'volume', Source: 'data', Target: '/e' }] })
  expect(await movedBinds(plan, { taskDirectory: folder })).toEqual([])
})
