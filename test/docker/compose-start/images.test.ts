import { describe, expect, it } from 'vitest'
import { ConfigError, SandboxInitError } from '../../../src/errors.ts'
import { findBuildx } from '../../../src/sandbox/docker/image/buildx.ts'
import { ComposeRun, sh } from '../../support/compose.ts'

const buildx = await findBuildx()
const forever = 'sleep infinity'
const unique = () => `RUN echo ${Math.random()} > /unique`

describe('images of a sandbox of several services', () => {
  it('are built once each, at the same time, and a failing build never falls back to the image that is named', async () => {
    await using good = await ComposeRun.open(
      `
services:
  main: { build: a, command: ${forever} }
  other: { build: b, image: busybox:latest, command: ${forever} }
`,
      { 'a/Dockerfile': `FROM busybox\n${unique()}`, 'b/Dockerfile': `FROM busybox\nRUN echo b > /which` },
    )
    await using sandbox = await good.start()
    expect(await sh(sandbox.services.get('other'), 'cat /which')).toBe('b')
    await using bad = await ComposeRun.open(
      `services: { main: { build: ., image: "busybox:latest", command: ${forever} } }`,
      { Dockerfile: 'FROM busybox\nRUN echo no compiler >&2 && exit 7' },
    )
    await expect(bad.start()).rejects.toThrow(/build of .* failed[\s\S]*no compiler/)
  })

  it.skipIf(buildx === undefined)('use secrets and contexts by name through buildx', async () => {
    await using compose = await ComposeRun.open(
      `
services:
  main:
    command: ${forever}
    build:
      context: app
      additional_contexts: { more: ./more, base: service:base }
      secrets: [password, written]
  base:
    command: ${forever}
    build: { context: base }
secrets:
  password: { file: password.txt }
  written: { environment: WRITTEN }
`,
      {
        'app/Dockerfile': [
          'FROM base',
          unique(),
          'COPY --from=more /note.txt /note.txt',
          'RUN --mount=type=secret,id=password cat /run/secrets/password > /length',
          'RUN --mount=type=secret,id=written cat /run/secrets/written > /written',
        ].join('\n'),
        'base/Dockerfile': `FROM busybox\nRUN echo based > /base`,
        'more/note.txt': 'noted',
        'password.txt': 'hunter2',
        '.env': 'WRITTEN=from the environment',
      },
    )
    await using sandbox = await compose.start()
    expect(await sh(sandbox.default, 'cat /base /note.txt /length /written')).toBe(
      'based\nnotedhunter2from the environment',
    )
  })

  it('that are not built are listed, and refused where nothing may be built', async () => {
    await using compose = await ComposeRun.open(
      `
services:
  main: { build: a, command: ${forever} }
  other: { build: b, command: ${forever} }
  third: { image: busybox, command: ${forever} }
`,
      { 'a/Dockerfile': `FROM busybox\n${unique()}`, 'b/Dockerfile': `FROM busybox\n${unique()}` },
      { noBuild: true },
    )
    const { provider } = compose.run
    const config = await provider.resolve(
      { kind: 'docker', config: { compose: 'compose.yaml' } },
      { taskDirectory: compose.folder },
    )
    expect(await provider.missingImages(config)).toEqual([
      "compose compose.yaml: service 'main'",
      "compose compose.yaml: service 'other'",
    ])
    await expect(compose.start()).rejects.toBeInstanceOf(SandboxInitError)
  })

  it('whose builds need each other in a circle are refused', async () => {
    const service = (other: string) =>
      `{ build: { context: ., additional_contexts: { x: "service:${other}" } }, command: ${forever} }`
    await using compose = await ComposeRun.open(
      `services:\n  main: ${service('other')}\n  other: ${service('main')}\n`,
      { Dockerfile: 'FROM busybox' },
    )
    await expect(compose.start()).rejects.toBeInstanceOf(ConfigError)
  })
})

describe('a sandbox that is described in code', () => {
  it('means what the same compose file means', async () => {
    await using compose = await ComposeRun.open('services: {}', { 'data/x.txt': 'x' })
    await using sandbox = await compose.run.start(
      {
        services: {
          default: { image: 'busybox', command: forever, volumes: ['./data:/data:ro'], networks: ['lan'] },
          db: { image: 'busybox', command: forever, networks: ['lan'] },
        },
        networks: { lan: { internal: true } },
      },
      { taskDirectory: compose.folder },
    )
    expect(await sh(sandbox.default, 'cat /data/x.txt && nslookup db >/dev/null && echo db')).toBe('xdb')
  })
})
