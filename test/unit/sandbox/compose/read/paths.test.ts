import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isInside, realPath } from '../../../../../src/sandbox/compose/read/paths.ts'

let folder = ''

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'belljar-paths-')))
  mkdirSync(join(folder, 'task/sub'), { recursive: true })
  mkdirSync(join(folder, 'outside'))
  writeFileSync(join(folder, 'task/file'), '')
  symlinkSync('../outside', join(folder, 'task/out'))
  symlinkSync('../outside/later', join(folder, 'task/dangling'))
  symlinkSync('dangling', join(folder, 'task/chain'))
  symlinkSync('sub', join(folder, 'task/in'))
  symlinkSync('loop', join(folder, 'task/loop'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('realPath', () => {
  it.each([
    ['task/file', 'task/file'],
    ['task/sub/../file', 'task/file'],
    ['task/in/new', 'task/sub/new'],
    ['task/out', 'outside'],
    ['task/out/new/deep', 'outside/new/deep'],
    ['task/dangling', 'outside/later'],
    ['task/dangling/deep', 'outside/later/deep'],
    ['task/chain', 'outside/later'],
    ['task/none/such', 'task/none/such'],
  ])('of %s is %s', async (path, expected) => {
    expect(await realPath(join(folder, path))).toBe(join(folder, expected))
  })

  it('ends on a loop', async () => {
    expect(await realPath(join(folder, 'task/loop'))).toBe(join(folder, 'task/loop'))
  })
})

describe('isInside', () => {
  it.each([
    ['/task', '/task', true],
    ['/task/a', '/task', true],
    ['/task/..a', '/task', true],
    ['/task-neighbour', '/task', false],
    ['/', '/task', false],
    ['/other/task', '/task', false],
    ['/any', '/', true],
  ])('%s in %s: %s', (path, parent, expected) => {
    expect(isInside(path, parent)).toBe(expected)
  })
})
