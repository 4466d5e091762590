import { describe, expect, it } from 'vitest'
import { unenforceable } from '../../../../../src/sandbox/docker/egress/check-enforceable.ts'

const facts = (version: string, defaultRuntime?: string) => ({
  version,
  ...(defaultRuntime !== undefined && { defaultRuntime }),
})

describe('a network allow-list', () => {
  it.each([
    '23.0.11',
    '23.0.15',
    '25.0.4',
    '25.0.5+dfsg1',
    '26.0.0',
    '26.1.5+dfsg1',
    '27.5.1',
    '28.0.0-rc.2',
    '30.1.0',
  ])('can be enforced on Engine %s', (version) => expect(unenforceable(facts(version))).toBeUndefined())

  it.each([
    '19.03.15',
    '20.10.24+dfsg1',
    '23.0.10',
    '24.0.9',
    '25.0.3',
    '25.0.0-beta.1',
    'library-import',
    '',
  ])('cannot on Engine %s, whose resolver asks outside', (version) =>
    expect(unenforceable(facts(version))).toMatch(/25\.0\.4 and newer do not/),
  )

  it('cannot where every container is one of gVisor', () => {
    expect(unenforceable(facts('26.1.5', 'runc'))).toBeUndefined()
    expect(unenforceable(facts('26.1.5', 'runsc'))).toMatch(/default runtime is 'runsc'/)
  })
})
