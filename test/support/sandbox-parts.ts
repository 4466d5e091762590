import { SandboxInitError } from '../../src/errors.ts'
import type { SandboxIdentity } from '../../src/sample/identity.ts'
import { FakeProvider } from '../../src/sandbox/fake/fake-provider.ts'
import type { LeftObject, ResolvedConfig } from '../../src/sandbox/provider.ts'

/** The configuration of an image, as the fake provider resolves it. */
export function fakeConfig(image: string): Promise<ResolvedConfig> {
  return new FakeProvider().resolve({ kind: 'fake', config: { image } })
}

export function identityOf(sample: string, run = 'run'): SandboxIdentity {
  return { run, eval: 'eval', task: 'task', sample, epoch: 1, attempt: 1 }
}

export function leftObject(name: string): LeftObject {
  return { kind: 'container', name, reason: 'device busy', command: `docker rm -fv ${name}` }
}

export const transient = (message: string) => new SandboxInitError(message, { transient: true })
