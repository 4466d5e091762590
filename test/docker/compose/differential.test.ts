import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Docker from 'dockerode'
import { describe, expect, it } from 'vitest'
import { composeCommand } from '../../../src/sandbox/compose/read/plugin.ts'
import { resolveCompose } from '../../../src/sandbox/compose/resolve.ts'
import { removeProject, snapshot } from './inspected.ts'
import { makeFromPlan } from './made-from-plan.ts'

const folder = fileURLToPath(new URL('../../corpus/compose/valid', import.meta.url))
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
const docker = new Docker()

/** Names that a file fixes, and what stands for them in a plan. */
const FIXED = new Map([
  ['belljar-corpus-fixed', 'PROJECT_data'],
  ['belljar-corpus-network', 'PROJECT_a'],
  ['fixed-name-of-belljar-corpus', 'PROJECT-app-1'],
])

async function composeCreate(file: string, project: string): Promise<void> {
  const { file: command, leading } = await composeCommand()
  const args = [...leading, '-f', join(folder, file), '--project-name', project, 'create', '--pull', 'never']
  const env = { DOCKER_CONFIG: '/nonexistent', ...socket() }
  await promisify(execFile)(command, args, { cwd: folder, env, timeout: 60_000 })
}

function socket(): Record<string, string> {
  const host = process.env.DOCKER_HOST
  return host === undefined ? {} : { DOCKER_HOST: host }
}

describe.concurrent('what the engine makes of a plan', () => {
  it.each(files)('is what Compose creates from %s', async (file) => {
    const ending = `${process.pid}-${file.replace(/\W/g, '')}`
    const [theirs, ours] = [`belljar-theirs-${ending}`, `belljar-ours-${ending}`]
    try {
      const { plan } = await resolveCompose(file, { taskDirectory: folder })
      await composeCreate(file, theirs)
      const expected = await snapshot(docker, theirs, FIXED)
      await makeFromPlan(docker, ours, plan)
      expect(await snapshot(docker, ours, FIXED)).toEqual(expected)
    } finally {
      await Promise.all([removeProject(docker, theirs), removeProject(docker, ours)])
    }
  })
})
