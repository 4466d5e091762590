import { describe, expect, it } from 'vitest'
import { BelljarError, ModelError, SandboxInitError, SandboxUnavailableError } from '../../../src/errors.ts'
import { errorRecord } from '../../../src/log/records/error-record.ts'

describe('what the log keeps of an error', () => {
  it('is its code, its message and where it was thrown', () => {
    const record = errorRecord('agent', new BelljarError('boom', 'it broke'))
    expect(record).toMatchObject({ kind: 'agent', code: 'boom', message: 'it broke' })
    expect(record.stack).toContain('error-record.test')
  })

  it.each([
    ['text', 'just text', 'just text'],
    ['null', null, 'null'],
    ['an object', { toString: (): string => 'odd' }, 'odd'],
  ])('is the text of what is no error: %s', (_what, thrown, message) => {
    expect(errorRecord('agent', thrown)).toEqual({ kind: 'agent', code: 'error', message })
  })

  it('is whether trying again may help, where whoever threw it knew', () => {
    const build = new SandboxInitError('no such base image', { transient: false })
    const busy = new ModelError('busy', { kind: 'overloaded', model: 'm' })
    const records = [build, busy, new Error('x')].map((error) => errorRecord('agent', error))
    expect(records.map(({ transient }) => transient)).toEqual([false, true, undefined])
  })

  it('has the messages of all causes, each once', () => {
    const cause = new Error('disk full', { cause: new Error('ENOSPC') })
    const error = new Error('cannot write: disk full', { cause })
    expect(errorRecord('log', error).message).toBe('cannot write: disk full: ENOSPC')
  })

  it('ends with causes that go round in a circle', () => {
    const error = new Error('one')
    error.cause = new Error('two', { cause: error })
    expect(errorRecord('internal', error).message).toBe('one: two')
  })

  it('has what was seen of a dead sandbox', () => {
    const error = new SandboxUnavailableError('gone', { reason: 'oom', postMortem: 'killed at 512 MiB' })
    expect(errorRecord('sandbox', error)).toMatchObject({
      code: 'sandbox-unavailable',
      postMortem: 'killed at 512 MiB',
    })
  })
})
