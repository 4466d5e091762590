import fc from 'fast-check'
import { it } from 'vitest'
import { dispatchProperty } from '../../support/dispatch-property.ts'

it('a dispatcher runs all that is added once, tells the source of each once, and ends, in any interleaving', async () => {
  await fc.assert(dispatchProperty, { numRuns: 200 })
}, 60_000)
