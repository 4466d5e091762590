import { Command } from 'commander'
import { expect, it } from 'vitest'
import { addLimitOptions, limitOptions } from '../../../src/cli/options/limit-options.ts'

function parsed(...words: string[]) {
  const command = addLimitOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
  return limitOptions(command.parse(words, { from: 'user' }).opts())
}

it("only the limits that were given take the place of a task's own", () => {
  expect(parsed()).toBeUndefined()
  expect(parsed('--time-limit', '1.5', '--message-limit', '20')).toEqual({ timeMs: 1500, messages: 20 })
  expect(
    parsed(
      '--working-limit',
      '60',
      '--turn-limit',
      '3',
      '--token-limit',
      '9',
      '--output-token-limit',
      '8',
      '--cost-limit',
      '0.5',
    ),
  ).toEqual({ workingMs: 60_000, turns: 3, tokens: 9, outputTokens: 8, cost: 0.5 })
})

it.each([
  ['--time-limit', '0'],
  ['--time-limit', 'soon'],
  ['--cost-limit', '-1'],
  ['--message-limit', '1.5'],
])('%s %s is refused', (...words) => {
  expect(() => parsed(...words)).toThrow(/expected a/)
})
