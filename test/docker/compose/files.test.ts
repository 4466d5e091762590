import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Docker from 'dockerode'
import tar from 'tar-stream'
import { expect, it } from 'vitest'
import { composeCommand } from '../../../src/sandbox/compose/read/plugin.ts'
import { resolveCompose } from '../../../src/sandbox/compose/resolve.ts'
import type { FilePlan } from '../../../src/sandbox/sandbox-plan.ts'
import { removeProject } from './inspected.ts'

const folder = fileURLToPath(new URL('../../corpus/compose/valid', import.meta.url))
const docker = new Docker()

async function composeUp(file: string, project: string): Promise<string> {
  const { file: command, leading } = await composeCommand()
  const args = [
    ...leading,
    '-f',
    `${folder}/${file}`,
    '--project-name',
    project,
    'up',
    '--detach',
    '--pull',
    'never',
  ]
  const host = process.env.DOCKER_HOST
  const env = { DOCKER_CONFIG: '/nonexistent', ...(host ? { DOCKER_HOST: host } : {}) }
  await promisify(execFile)(command, args, { cwd: folder, env, timeout: 60_000 })
  const filters = { label: [`com.docker.compose.project=${project}`] }
  const [container] = await docker.listContainers({ filters })
  return container?.Id ?? ''
}

/** The file as it is in the container, in the form of a plan. */
async function readBack(container: string, path: string): Promise<FilePlan | undefined> {
  const archive = await docker.getContainer(container).getArchive({ path })
  const extract = (archive as NodeJS.ReadableStream).pipe(tar.extract())
  for await (const entry of extract) {
    const parts: Buffer[] = []
    for await (const part of entry) parts.push(part as Buffer)
    const { mode = 0, uid = 0, gid = 0 } = entry.header
    return { path, content: Buffer.concat(parts).toString(), mode: mode & 0o7777, uid, gid }
  }
  return undefined
}

it.each(['configs.yaml', 'secrets-environment.yaml', 'secrets-inline-modes.yaml'])(
  'files of a plan are those that Compose puts into the container of %s',
  async (file) => {
    const project = `belljar-files-${process.pid}-${file.replace(/\W/g, '')}`
    try {
      const { plan } = await resolveCompose(file, { taskDirectory: folder })
      const files = plan.services[0]?.files ?? []
      expect(files.length).toBeGreaterThan(0)
      const container = await composeUp(file, project)
      expect(await Promise.all(files.map(({ path }) => readBack(container, path)))).toEqual(files)
    } finally {
      await removeProject(docker, project)
    }
  },
)
