import { describe, expect, it } from 'vitest'
import type { SandboxSelector } from '../../../src/sample/identity.ts'
import { CleanupRegistry } from '../../../src/sandbox/cleanup-registry.ts'
import type { RemovalReport } from '../../../src/sandbox/provider.ts'
import { deferred } from '../../support/fake-run.ts'
import { identityOf, leftObject } from '../../support/sandbox-parts.ts'

const GONE: RemovalReport = { removed: 1, left: [] }

/** A provider of removals that are answered in turn; an error is thrown. */
function remover(...answers: (RemovalReport | Error)[]) {
  const asked: (string | undefined)[] = []
  return {
    asked,
    remove: async ({ sample }: SandboxSelector) => {
      asked.push(sample)
      const answer = answers.shift() ?? GONE
      if (answer instanceof Error) throw answer
      return answer
    },
  }
}

describe('the cleanup registry', () => {
  it('holds what was registered until a removal found nothing left of it', async () => {
    const registry = new CleanupRegistry()
    const provider = remover({ removed: 0, left: [leftObject('stuck')] }, GONE)
    const entry = registry.register(provider, identityOf('a'))
    expect(registry.size).toBe(1)
    await entry.remove()
    expect([registry.size, registry.left.map(({ name }) => name)]).toEqual([1, ['stuck']])
    await entry.remove()
    expect([registry.size, registry.left]).toEqual([0, []])
  })

  it('forgets what its owner saw to be gone, without another look', async () => {
    const registry = new CleanupRegistry()
    const provider = remover()
    registry.register(provider, identityOf('a')).done()
    expect(await registry.removeAll()).toEqual([])
    expect(provider.asked).toEqual([])
  })

  it('shares a removal that is under way', async () => {
    const registry = new CleanupRegistry()
    const removal = deferred<RemovalReport>()
    let calls = 0
    const provider = {
      remove: () => {
        calls++
        return removal.promise
      },
    }
    const entry = registry.register(provider, identityOf('a'))
    const reports = [entry.remove(), entry.remove(), registry.removeAll()]
    removal.resolve(GONE)
    await Promise.all(reports)
    expect(calls).toBe(1)
  })

  it('attempts every removal however others fare, and names what is left with the command that removes it', async () => {
    const registry = new CleanupRegistry()
    const provider = remover(
      new Error('the daemon hung up'),
      { removed: 0, left: [leftObject('stuck')] },
      GONE,
    )
    for (const sample of ['a', 'b', 'c']) registry.register(provider, identityOf(sample, 'r1'))
    const left = await registry.removeAll()
    expect(provider.asked).toEqual(['a', 'b', 'c'])
    expect(left).toEqual([
      expect.objectContaining({
        name: 'whatever is labelled belljar.run=r1',
        reason: 'the daemon hung up',
        command: expect.stringContaining('label=belljar.run=r1'),
      }),
      leftObject('stuck'),
    ])
    expect(registry.size).toBe(2)
  })

  it('names an object that several removals met once', async () => {
    const registry = new CleanupRegistry()
    const stuck = { removed: 0, left: [leftObject('shared')] }
    const provider = remover(stuck, stuck)
    for (const sample of ['a', 'b']) registry.register(provider, identityOf(sample))
    expect(await registry.removeAll()).toEqual([leftObject('shared')])
  })

  it('lets a later look at everything settle what is left', async () => {
    const registry = new CleanupRegistry()
    registry.register(remover(new Error('no answer')), identityOf('a'))
    await registry.removeAll()
    registry.settle({ removed: 1, left: [leftObject('last')] })
    expect([registry.size, registry.left]).toEqual([0, [leftObject('last')]])
  })
})
