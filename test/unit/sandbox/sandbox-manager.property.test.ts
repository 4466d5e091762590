import fc from 'fast-check'
import { it } from 'vitest'
import { managerProperty } from '../../support/manager-property.ts'

it('a sandbox manager leaves nothing, exceeds nothing and does nothing twice, in any interleaving', async () => {
  await fc.assert(managerProperty, { numRuns: 300 })
}, 60_000)
