import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Progress } from '../../../src/cli/show/progress.ts'
import type { RunEvent } from '../../../src/run/run-event.ts'
import { leftObject } from '../../support/sandbox-parts.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

it('says every ten seconds how far it is, and after the end what is still being removed', () => {
  const lines: string[] = []
  let left = [leftObject('bj-one'), leftObject('bj-other')]
  const output = { line: (text: string) => void lines.push(text), json: () => undefined, isTerminal: false }
  using progress = new Progress(output, () => left)
  progress.take({ type: 'samples-added', task: 't', total: 2 } as RunEvent)
  vi.advanceTimersByTime(10_000)
  progress.take({ type: 'eval-end', task: 't' } as RunEvent)
  vi.advanceTimersByTime(10_000)
  left = left.slice(1)
  vi.advanceTimersByTime(10_000)
  left = []
  vi.advanceTimersByTime(10_000)
  expect(lines).toEqual([
    't: 0 of 2 done',
    'removing container bj-one and 1 more',
    'removing container bj-other',
  ])
})

it('says what the samples of an eval run in, each sort once', () => {
  const lines: string[] = []
  const output = { line: (text: string) => void lines.push(text), json: () => undefined, isTerminal: false }
  using progress = new Progress(output, () => [])
  const sandboxes = ['one.yaml', 'two.yaml', 'one.yaml'].map((description) => ({
    description,
    reach: 'internet: off',
  }))
  const header = {
    dataset: { kind: 'fixed', samples: 3 },
    epochs: 1,
    config: { sandboxes },
    task: { name: 't' },
  }
  progress.take({ type: 'eval-start', task: 't', eval: 'e', log: 'x.eval', header } as unknown as RunEvent)
  expect(lines.join('\n')).toContain('sandbox: 2 of one.yaml (internet: off); two.yaml (internet: off)')
})
