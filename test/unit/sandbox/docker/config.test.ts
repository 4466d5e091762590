import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { memoryBytes } from '../../../../src/sandbox/docker/config/memory-size.ts'
import { resolveDockerConfig } from '../../../../src/sandbox/docker/config/resolve-config.ts'
import { chooseKeeper } from '../../../../src/sandbox/docker/container/keeper.ts'
import { idsFromPasswd } from '../../../../src/sandbox/docker/container/user-ids.ts'
import { discoverDockerConfig } from '../../../../src/sandbox/docker/discover.ts'
import { splitReference } from '../../../../src/sandbox/docker/image/pull.ts'
import { registryOf } from '../../../../src/sandbox/docker/image/registry-auth.ts'

const MIB = 1024 ** 2

test.each([
  ['512m', 512 * MIB],
  ['1.5g', 1536 * MIB],
  ['64MiB', 64 * MIB],
  ['8000k', 8000 * 1024],
  ['1G', 1024 * MIB],
  [7 * MIB, 7 * MIB],
  [`${7 * MIB}`, 7 * MIB],
])('a memory size of %s is %i bytes', (size, bytes) => {
  expect(memoryBytes(size)).toBe(bytes)
})

test.each(['', 'abc', '-1g', '5x', '1m', '1e3g', 'm'])('%j is no memory size', (size) => {
  expect(() => memoryBytes(size)).toThrow(/memory: expected/)
})

test('a compose file is found before a Dockerfile, and compose.yaml before its other names', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belljar-discover-'))
  try {
    expect(discoverDockerConfig(folder)).toBeUndefined()
    await expect(resolveDockerConfig({ kind: 'docker' }, { taskDirectory: folder })).rejects.toThrow(
      /compose\.yaml.*Dockerfile/,
    )
    const found: unknown[] = []
    for (const name of [
      'Dockerfile',
      'docker-compose.yml',
      'docker-compose.yaml',
      'compose.yml',
      'compose.yaml',
    ]) {
      await writeFile(join(folder, name), '')
      found.push(discoverDockerConfig(folder))
    }
    expect(found).toEqual([
      { build: '.' },
      { compose: 'docker-compose.yml' },
      { compose: 'docker-compose.yaml' },
      { compose: 'compose.yml' },
      { compose: 'compose.yaml' },
    ])
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('one configuration has one key, however it is written; another has another', async () => {
  const key = async (config: object) =>
    (await resolveDockerConfig({ kind: 'docker', config }, { taskDirectory: '/' })).key
  const first = await key({ image: 'busybox', memory: '512m', env: { A: '1', B: '2' } })
  expect(await key({ env: { A: '1', B: '2' }, memory: 512 * MIB, image: 'busybox' })).toBe(first)
  expect(await key({ image: 'busybox', memory: '513m', env: { A: '1', B: '2' } })).not.toBe(first)
  expect(await key({ image: 'busybox' })).not.toBe(await key({ image: 'busybox', network: 'internet' }))
})

test('what a sandbox reaches is said', async () => {
  const reach = async (config: object) =>
    (await resolveDockerConfig({ kind: 'docker', config }, { taskDirectory: '/' })).reach
  expect(await reach({ image: 'x' })).toBe('internet: off')
  expect(await reach({ image: 'x', network: 'internet' })).toBe('internet: on')
})

test.each([
  ["the image's own command is replaced", { command: null }, [], ['Cmd'], true],
  ['an entrypoint of the image stays', { command: null }, ['/e'], ['Cmd'], false],
  ['an empty entrypoint clears it', { command: null, entrypoint: [] }, ['/e'], ['Entrypoint', 'Cmd'], true],
  ["a service's own command stays", {}, [], [], false],
  [
    'and so does its entrypoint',
    { entrypoint: ['/x'], command: ['y'] },
    ['/e'],
    ['Entrypoint', 'Cmd'],
    false,
  ],
] as const)('main process: %s', (_what, plan, entrypoint, keys, own) => {
  const delivery = { placement: { kind: 'engine', reason: 'none' }, autoRemove: false } as const
  const keeper = chooseKeeper({ env: [], hostConfig: {}, extra: {}, ...plan }, entrypoint, delivery)
  expect(Object.keys(keeper.body)).toEqual(keys)
  expect(keeper.ownProcess).toBe(own)
})

test.each([
  ['busybox', { fromImage: 'busybox', tag: 'latest' }, 'https://index.docker.io/v1/'],
  ['library/busybox:1.36', { fromImage: 'library/busybox', tag: '1.36' }, 'https://index.docker.io/v1/'],
  ['127.0.0.1:5000/x', { fromImage: '127.0.0.1:5000/x', tag: 'latest' }, '127.0.0.1:5000'],
  ['ghcr.io/a/b@sha256:00', { fromImage: 'ghcr.io/a/b@sha256:00' }, 'ghcr.io'],
])('the reference %s is taken apart', (reference, parts, registry) => {
  expect(splitReference(reference)).toEqual(parts)
  expect(registryOf(reference)).toBe(registry)
})

test('ids of a user are those of the passwd file', () => {
  const passwd = 'root:x:0:0::/root:/bin/sh\nagent:x:1007:33::/:/bin/sh\n'
  expect(idsFromPasswd(passwd, 'agent')).toEqual({ uid: 1007, gid: 33 })
  expect(idsFromPasswd(passwd, '1007')).toEqual({ uid: 1007, gid: 33 })
  expect(idsFromPasswd(passwd, 'nobody')).toBeUndefined()
})
