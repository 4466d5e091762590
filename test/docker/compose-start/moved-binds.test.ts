import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { DockerRun } from '../../support/docker.ts'
import { tempDir } from '../../support/temp-dir.ts'

const COMPOSE = `services:
  default:
    image: busybox:latest
    command: ["sleep", "600"]
    volumes: ["./shared:/shared"]
`

it('a bind mount that has become a link out of the task folder is refused at the start', async () => {
  await using directory = await tempDir()
  await using run = await DockerRun.open()
  const shared = join(directory.path, 'shared')
  await mkdir(shared)
  await writeFile(join(directory.path, 'compose.yaml'), COMPOSE)
  const spec = { kind: 'docker', config: { compose: 'compose.yaml' } }
  const config = await run.provider.resolve(spec, { taskDirectory: directory.path })
  await run.provider.taskInit(config, {})
  await (await run.provider.sampleInit(config, run.identity(), {})).remove()
  await rm(shared, { recursive: true })
  await symlink('/etc', shared)
  await expect(run.provider.sampleInit(config, run.identity(), {})).rejects.toThrow(
    /lead elsewhere[\s\S]*services\.default\.volumes/,
  )
})
