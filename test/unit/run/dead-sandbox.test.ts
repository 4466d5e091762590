import { expect, it } from 'vitest'
import { LimitExceededError, SandboxUnavailableError } from '../../../src/errors.ts'
import { FakeProvider } from '../../../src/sandbox/fake/fake-provider.ts'
import { fakeRun, fakeTask, sample } from '../../support/fake-run.ts'

const DEAD = new SandboxUnavailableError("the sandbox service 'default' is unavailable: killed", {
  reason: 'killed',
  service: 'default',
  postMortem: 'exit code 137',
})

/** Sandboxes of which the first dies at the command `die`, for good or not, with all that is asked of it then. */
function mortal({ comesBack = false, deaths = 1 } = {}) {
  let [isDead, left] = [false, deaths]
  const die = (command: readonly string[]) => {
    if (command[0] === 'die' && left > 0) {
      left -= 1
      isDead = true
      throw DEAD
    }
    if (isDead && !comesBack) throw DEAD
  }
  const provider = new FakeProvider({
    sampleInit: () => {
      isDead = false
    },
    exec: (command) => die(command),
  })
  const { sampleInit } = provider
  provider.sampleInit = async (...given) => {
    const started = await sampleInit.apply(provider, given)
    const sandbox = started.default
    sandbox.exists = async () => {
      die([])
      return true
    }
    return started
  }
  return provider
}

const swallowing = async ({ sandbox }: { sandbox: { exec(command: string[]): Promise<unknown> } }) => {
  await sandbox.exec(['die']).catch(() => undefined)
  return 'as if nothing had happened'
}
const always = { name: 'always', score: async () => ({ value: 1 }) }

it('an agent that swallows the death of its sandbox ends as an error of the sandbox, unscored', async () => {
  const task = fakeTask({ dataset: [sample('a')], agent: swallowing, scorers: [always], failOnError: false })
  const { records } = await fakeRun(task, { provider: mortal() })
  expect(records).toMatchObject([
    {
      status: 'error',
      scores: {},
      output: '',
      error: { kind: 'sandbox', code: 'sandbox-unavailable', postMortem: 'exit code 137' },
    },
  ])
})

it('so does one that fails of its own because of it, or spends its budget on it', async () => {
  const failing = async (context: Parameters<typeof swallowing>[0]) => {
    await swallowing(context)
    throw new Error('nothing works here')
  }
  const spending = async (context: Parameters<typeof swallowing>[0]) => {
    await swallowing(context)
    throw new LimitExceededError({ type: 'turn', limit: 3 })
  }
  for (const agent of [failing, spending]) {
    const task = fakeTask({ dataset: [sample('a')], agent, failOnError: false })
    const { records } = await fakeRun(task, { provider: mortal() })
    expect(records).toMatchObject([{ status: 'error', error: { kind: 'sandbox' } }])
  }
})

it('so does a scorer: a score of zero is none', async () => {
  const zero = {
    name: 'zero',
    score: async ({ sandbox }: { sandbox: { exec(command: string[]): Promise<unknown> } }) => {
      const passed = await sandbox.exec(['die']).catch(() => undefined)
      return { value: passed === undefined ? 0 : 1 }
    },
  }
  const task = fakeTask({ dataset: [sample('a')], scorers: [zero], failOnError: false })
  const { records } = await fakeRun(task, { provider: mortal() })
  expect(records).toMatchObject([{ status: 'error', scores: {}, error: { kind: 'sandbox' } }])
})

it('a sandbox that serves again is not dead', async () => {
  const task = fakeTask({ dataset: [sample('a')], agent: swallowing, scorers: [always] })
  const { records } = await fakeRun(task, { provider: mortal({ comesBack: true }) })
  expect(records).toMatchObject([{ status: 'success', scores: { always: { value: 1 } } }])
})

it('with retryInfra it is attempted again in a fresh sandbox, apart from retryOnError', async () => {
  let agents = 0
  const agent = async (context: { sandbox: { exec(command: string[]): Promise<unknown> } }) => {
    agents += 1
    if (agents === 3) throw new Error('its own')
    return swallowing(context)
  }
  const task = fakeTask({ dataset: [sample('a')], agent, retryInfra: 2, retryOnError: 1 })
  const provider = mortal({ deaths: 2 })
  const { records } = await fakeRun(task, { provider })
  expect(records).toMatchObject([{ status: 'success', attempt: 4 }])
  expect(records[0]?.earlier?.map(({ error }) => error.kind)).toEqual(['sandbox', 'sandbox', 'agent'])
  expect(provider.calls.filter((call) => call.startsWith('sampleInit'))).toHaveLength(4)
})
