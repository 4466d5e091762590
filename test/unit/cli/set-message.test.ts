import { describe, expect, it } from 'vitest'
import { setMessage, setSummary } from '../../../src/cli/show/set-message.ts'
import type { SetTaskResult } from '../../../src/run/set/set-options.ts'

const task = (more: Partial<SetTaskResult> & { wasComplete?: boolean } = {}): SetTaskResult => {
  const { wasComplete = false, ...rest } = more
  const last = { wasComplete } as SetTaskResult['eval']
  return {
    key: 'k',
    id: 'p/a',
    parameters: {},
    state: 'complete',
    attempts: 1,
    log: 'a.eval',
    eval: last,
    ...rest,
  }
}

describe('the end of a set', () => {
  it('is a table of its tasks, made harmless', () => {
    const failed = task({
      id: 'p/b',
      parameters: { n: 2 },
      model: 'x/m',
      state: 'failed',
      log: undefined,
      why: 'no\u001b[2J',
    })
    expect(setSummary([task(), failed]).split('\n')).toEqual([
      'set: 1 of 2 tasks complete',
      'task                  state     log     why',
      '--------------------  --------  ------  -----------',
      'p/a                   complete  a.eval',
      'p/b (n=2, model x/m)  failed    -       no\\u001b[2J',
    ])
  })

  it('says so where nothing had to be run', () => {
    expect(setSummary([task({ wasComplete: true }), task({ wasComplete: true })])).toBe(
      'set: all complete already (2 tasks), nothing was run',
    )
    expect(setSummary([])).toBe('set: no task in this part')
  })
})

describe('what a set tells', () => {
  it('is when a task is tried again, and why', () => {
    const event = {
      type: 'set-again',
      name: 'p/a',
      attempt: 2,
      pauseMs: 30_000,
      why: 'full\ndisk',
    } as const
    expect(setMessage(event)).toBe('set: p/a is tried again in 30 s (attempt 2): full disk')
  })

  it('is which log was removed, and where all of it is', () => {
    expect(setMessage({ type: 'set-removed', log: 'logs/a.eval', keptIn: 'logs/b.eval' })).toBe(
      'set: a.eval removed, all of it is in b.eval',
    )
  })
})
