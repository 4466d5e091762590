import { expect, it } from 'vitest'
import type { Gate } from '../../../src/run/config/config-gate.ts'
import { GateUses } from '../../../src/run/config/gate-uses.ts'
import { ConfigUses } from '../../../src/sandbox/config-uses.ts'
import type { ResolvedConfig, SandboxProvider } from '../../../src/sandbox/provider.ts'

const config = (key: string) => ({ kind: 'fake', key }) as ResolvedConfig

function setUp() {
  const cleaned: string[] = []
  const provider = { taskCleanup: async ({ key }: ResolvedConfig) => void cleaned.push(key) }
  return { cleaned, provider: provider as unknown as SandboxProvider, uses: new ConfigUses() }
}

const readyGate = (provider: SandboxProvider, key: string): Gate =>
  ({
    state: 'ready',
    settled: Promise.resolve(),
    sandbox: { provider, initialised: { config: config(key) } },
  }) as Gate

it('a configuration is cleaned up when the last who holds it lets go, once', async () => {
  const { cleaned, provider, uses } = setUp()
  const [first, second, other] = [
    uses.retain(provider, config('a')),
    uses.retain(provider, config('a')),
    uses.retain(provider, config('b')),
  ]
  first()
  first()
  expect(cleaned).toEqual([])
  second()
  await uses.settle()
  expect(cleaned).toEqual(['a'])
  uses.retain(provider, config('a'))()
  other()
  await uses.settle()
  expect(cleaned).toEqual(['a', 'a', 'b'])
})

it('a task lets go of a configuration after its last run in it, or at its end where samples may be added', async () => {
  for (const openEnded of [false, true]) {
    const { cleaned, provider, uses } = setUp()
    const gates = new GateUses(uses, openEnded)
    const [a, b] = [readyGate(provider, 'a'), readyGate(provider, 'b')]
    gates.planned(a, 2)
    gates.planned(b, 1)
    await a.settled
    gates.ended(a)
    gates.ended(a)
    await uses.settle()
    expect(cleaned).toEqual(openEnded ? [] : ['a'])
    gates.close()
    await uses.settle()
    expect(cleaned).toEqual(['a', 'b'])
  }
})
