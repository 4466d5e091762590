import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../src/errors.ts'
import { docker, parseSandboxSpec } from '../../../src/sample/sandbox-spec.ts'

describe('reading which sandbox is asked for', () => {
  it.each<[unknown, unknown]>([
    ['docker', { kind: 'docker' }],
    ['fake', { kind: 'fake' }],
    ['docker:compose.yaml', { kind: 'docker', config: { compose: 'compose.yaml' } }],
    ['docker:a/b.yml', { kind: 'docker', config: { compose: 'a/b.yml' } }],
    ['docker:Dockerfile', { kind: 'docker', config: { build: { context: '.', dockerfile: 'Dockerfile' } } }],
    [
      'docker:env/Dockerfile.gpu',
      { kind: 'docker', config: { build: { context: 'env', dockerfile: 'Dockerfile.gpu' } } },
    ],
    [
      'docker:/a.Dockerfile',
      { kind: 'docker', config: { build: { context: '/', dockerfile: 'a.Dockerfile' } } },
    ],
    [{ kind: 'docker' }, { kind: 'docker' }],
    [
      { kind: 'docker', image: 'busybox' },
      { kind: 'docker', config: { image: 'busybox' } },
    ],
    [
      { kind: 'docker', config: { build: './env' } },
      { kind: 'docker', config: { build: './env' } },
    ],
    [
      { kind: 'docker', image: 'x', network: 'internet', memory: '1g', env: { A: 'b' } },
      { kind: 'docker', config: { image: 'x', network: 'internet', memory: '1g', env: { A: 'b' } } },
    ],
  ])('%j', (given, spec) => {
    expect(parseSandboxSpec(given)).toEqual(spec)
  })

  it.each<[unknown, RegExp]>([
    ['', /expected KIND or KIND:FILE, got ''/],
    [':compose.yaml', /expected KIND or KIND:FILE, got ':compose\.yaml'/],
    ['docker:notes.txt', /'notes\.txt' is neither a Dockerfile nor a compose file/],
    ['docker:', /'' is neither a Dockerfile nor a compose file/],
    [{ image: 'x' }, /expected 'docker', 'docker:FILE' or \{ kind/],
    [{ kind: 3 }, /got \{"kind":3\}/],
    [null, /got null/],
    [
      { kind: 'docker', image: 'x', build: '.' },
      /exactly one of image, build, compose and services, got image and build/,
    ],
    [{ kind: 'docker', network: 'none' }, /exactly one of image, build, compose and services, got none/],
    [{ kind: 'docker', image: 'x', imagge: 'y' }, /imagge/],
    [{ kind: 'docker', image: 'x', network: 'some' }, /network/],
    [{ kind: 'docker', image: 'x', cpus: 0 }, /cpus/],
    [{ kind: 'docker', image: 'x', workdir: 'relative' }, /workdir/],
    [{ kind: 'docker', image: 'x', env: { 'A=B': 'c' } }, /env/],
  ])('refuses %j', (given, message) => {
    expect(() => parseSandboxSpec(given)).toThrow(ConfigError)
    expect(() => parseSandboxSpec(given)).toThrow(message)
  })

  it('takes the same in code', () => {
    expect(docker()).toEqual({ kind: 'docker' })
    expect(docker('compose.yaml')).toEqual({ kind: 'docker', config: { compose: 'compose.yaml' } })
    expect(docker({ image: 'x' })).toEqual({ kind: 'docker', config: { image: 'x' } })
    expect(() => docker({})).toThrow(/exactly one of/)
  })
})
