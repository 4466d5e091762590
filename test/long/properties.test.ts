import fc from 'fast-check'
import { it } from 'vitest'
import { dispatchProperty } from '../support/dispatch-property.ts'
import { limiterProperty } from '../support/limiter-property.ts'
import { managerProperty } from '../support/manager-property.ts'

it('a dispatcher runs all that is added once, tells the source of each once, and ends, in very many interleavings', async () => {
  await fc.assert(dispatchProperty, { numRuns: 8000 })
})

it('a sandbox manager leaves nothing, exceeds nothing and does nothing twice, in very many interleavings', async () => {
  await fc.assert(managerProperty, { numRuns: 20_000 })
})

it('a limiter never grants too much, forgets nobody and keeps order, in very many interleavings', async () => {
  await fc.assert(limiterProperty, { numRuns: 20_000 })
})
