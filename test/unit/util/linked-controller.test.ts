import { getMaxListeners } from 'node:events'
import { expect, it } from 'vitest'
import { linkedController } from '../../../src/util/linked-controller.ts'

it('makes signals that HTTP clients take, which ask how many listeners there may be', () => {
  using controller = linkedController(new AbortController().signal)
  expect(getMaxListeners(controller.signal)).toBe(Number.POSITIVE_INFINITY)
})
