import { LocalProvider } from '../../src/sandbox/local/local-provider.ts'
import type { ConformanceTarget } from '../../src/testing/check.ts'
import { conformanceSuite } from './support/suite.ts'

const lacks = {
  isolation: 'it is a process of this host',
  users: 'its commands run as whoever started it',
  'non-root': 'it has no images',
  'read-only': 'it has no images',
  'no-shell': 'it has no images',
  small: 'it has no limits',
  strict: 'it has nothing to harden',
} as const

async function localTarget(): Promise<ConformanceTarget & AsyncDisposable> {
  const provider = await LocalProvider.open()
  const config = await provider.resolve({ kind: 'local' })
  let samples = 0
  const identity = () => ({
    run: `contract-${process.pid}`,
    eval: 'eval',
    task: 'contract',
    sample: `${++samples}`,
    epoch: 1,
    attempt: 1,
  })
  return {
    name: 'local',
    lacks,
    start: () => provider.sampleInit(config, identity(), {}),
    [Symbol.asyncDispose]: () => provider.close(),
  }
}

conformanceSuite('local provider', { target: localTarget, lacks, heavy: true })
