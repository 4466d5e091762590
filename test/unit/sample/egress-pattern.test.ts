import { describe, expect, it } from 'vitest'
import { checkEgressPattern } from '../../../src/sample/egress-pattern.ts'
import { docker } from '../../../src/sample/sandbox-spec.ts'

describe('a pattern of a network allow-list', () => {
  it.each([
    ['pypi.org', 'pypi.org'],
    ['PyPI.org.', 'pypi.org'],
    [' files.pythonhosted.org ', 'files.pythonhosted.org'],
    ['*.example.com', '*.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['_srv.example.com', '_srv.example.com'],
    ['db', 'db'],
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['169.254.169.254', '169.254.169.254'],
  ])("'%s' is compared as '%s'", (written, pattern) => {
    expect(checkEgressPattern(written)).toEqual({ pattern })
  })

  it.each([
    ['', 'is no host name'],
    ['*', "'*' only at the start"],
    ['*.*.com', "'*' only at the start"],
    ['api.*.com', "'*' only at the start"],
    ['*example.com', "'*' only at the start"],
    ['https://pypi.org', 'leave out scheme, port and path'],
    ['pypi.org/simple', 'is no IPv4 block'],
    ['pypi.org:443', 'has a port'],
    ['::1', 'is IPv6'],
    ['2001:db8::/32', 'is no IPv4 block'],
    ['0.0.0.0/0', "network: 'internet'"],
    ['10.1.2.3/8', '10.0.0.0/8 does'],
    ['203.0.113.0/33', 'is no IPv4 block'],
    ['203.0.113.256', 'is no IPv4 address'],
    ['203.0.113', 'is no IPv4 address'],
    ['0x7f.0.0.1', 'is neither a host name nor an IPv4 address'],
    ['127.0.0.1', 'is no host outside'],
    ['224.0.0.0/4', 'is no block of hosts outside'],
    ['localhost', 'is no host outside'],
    ['-a.example', 'is no host name'],
    ['a b.example', 'is no host name'],
    [`${'a'.repeat(64)}.example`, 'is no host name'],
  ])("'%s' is refused: %s", (written, problem) => {
    expect(checkEgressPattern(written)).toEqual({ problem: expect.stringContaining(problem) })
  })

  it('is part of a configuration, of any kind, and each bad one is named', () => {
    const network = { allow: ['PyPI.org', '*.example.com'] }
    expect(docker({ compose: 'compose.yaml', network }).config?.network).toEqual({
      allow: ['pypi.org', '*.example.com'],
    })
    const bad = { allow: ['ok.example', 'http://bad.example', 'worse:80'] }
    expect(() => docker({ image: 'a', network: bad })).toThrow(/'http:\/\/bad\.example'.*'worse:80'/s)
    expect(() => docker({ image: 'a', network: { allow: [] } })).toThrow(/at network\.allow/)
    expect(() => docker({ image: 'a', network: 'some' as never })).toThrow(
      /expected 'none', 'internet' or { allow/,
    )
  })
})
