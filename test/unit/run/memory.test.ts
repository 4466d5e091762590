import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Sample, SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import type { Agent } from '../../../src/agent/agent.ts'
import { fakeRun, fakeTask } from '../../support/fake-run.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** A seed and one batch, of which it keeps nothing itself; when asked again it says what is still held. */
class Forgetful extends SampleSource {
  readonly #made: { readonly name: string; readonly sample: WeakRef<Sample> }[] = []
  held: string[] | undefined

  override initialSamples(): Sample[] {
    return ['seed', 'seed that fails'].map((name) => this.#make(name))
  }

  override async nextSamples(): Promise<Sample[] | null> {
    if (this.#made.length === 2)
      return ['added', 'added that reaches a limit'].map((name) => this.#make(name))
    for (let turn = 0; turn < 10; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      collectGarbage()
    }
    this.held = this.#made.filter(({ sample }) => sample.deref()).map(({ name }) => name)
    return null
  }

  #make(name: string): Sample {
    const sample = { input: name, metadata: { name } }
    this.#made.push({ name, sample: new WeakRef(sample) })
    return sample
  }
}

describe('the samples of a source', () => {
  it('are let go, the seed too, once they have ended; one that may be put back is not', async () => {
    const source = new Forgetful()
    const agent: Agent = async ({ sample: { input }, budget }) => {
      if (input.endsWith('fails')) throw new Error('it failed')
      if (input.endsWith('limit')) budget.useTokens(10)
    }
    const { result } = await fakeRun(
      fakeTask({ dataset: source, agent, limits: { tokens: 1 }, failOnError: false }),
    )
    expect(result.evals[0]?.footer.totals).toMatchObject({ success: 2, error: 1, limit: 1 })
    expect(source.held).toEqual(['seed that fails'])
  })
})
