import { expect, it } from 'vitest'
import { inspectImage } from '../../../src/sandbox/docker/image/inspect-image.ts'
import { ComposeRun, sh } from '../../support/compose.ts'

const COMPOSE = `
services:
  main: { build: ., command: sleep infinity }
  other: { image: busybox:latest, command: sleep infinity }
`
const files = () => ({ Dockerfile: `FROM busybox:latest\nRUN echo ${Math.random()} > /unique\n` })

async function configOf(compose: ComposeRun) {
  const spec = { kind: 'docker', config: { compose: 'compose.yaml' } }
  return compose.run.provider.resolve(spec, { taskDirectory: compose.folder })
}

async function imagesOf(compose: ComposeRun): Promise<Record<string, string>> {
  return { ...(await compose.run.provider.taskInit(await configOf(compose), {})).images }
}

it('with removeImages what was built goes after its last use, what was there before stays, and a later start builds again', async () => {
  await using compose = await ComposeRun.open(COMPOSE, files(), { removeImages: true })
  const { provider } = compose.run
  const config = await configOf(compose)
  const { main = '', other = '' } = await imagesOf(compose)
  await (await provider.sampleInit(config, compose.run.identity(), {})).remove()
  await provider.taskCleanup(config)
  expect(await inspectImage(provider.engine, main)).toBeUndefined()
  expect(await inspectImage(provider.engine, other)).toBeDefined()
  await using again = await provider.sampleInit(config, compose.run.identity(), {})
  expect(await sh(again.default, 'test -s /unique && echo built')).toBe('built')
  await again.remove()
  await provider.taskCleanup(config)
})

it('an image that somebody removes while the run is on is made ready anew', async () => {
  await using compose = await ComposeRun.open(COMPOSE, files(), { removeImages: true })
  const { provider } = compose.run
  const { main = '' } = await imagesOf(compose)
  await provider.engine.control.getImage(main).remove({ force: true })
  const reports: string[] = []
  const config = await configOf(compose)
  const report = ({ message }: { message: string }) => void reports.push(message)
  await using sandbox = await provider.sampleInit(config, compose.run.identity(), { report })
  expect(await sh(sandbox.default, 'cat /unique')).toMatch(/^0\.\d+/)
  expect(reports).toContainEqual(expect.stringContaining('was removed meanwhile'))
  await sandbox.remove()
  await provider.taskCleanup(config)
})
