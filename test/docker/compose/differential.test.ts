import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Docker from 'dockerode'
import { describe, expect, it } from 'vitest'
import { composeCommand } from '../../../src/sandbox/compose/read/plugin.ts'
import { resolveCompose } from '../../../src/sandbox/compose/resolve.ts'
import { removeProject, snapshot } from './inspected.ts'
import { makeFromPlan } from './made-from-plan.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Of the files that are refused, those that can be created on any machine once what they ask for is allowed. */
const ALLOWED =
  /^(privileged|host-(pid|ipc|uts|userns|cgroup|network|gateway)|cap-add|seccomp-(un|perm)|systempaths|apparmor|label-disable|devices|device-|gpu|port-|log-driver|cgroup-parent|volumes-from-service|volume-bind-options)/

function filesIn(folder: string): [string, string][] {
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.yaml'))
  return names.map((name) => [folder, name])
}

const files = [
  ...filesIn('test/corpus/compose/valid'),
  ...filesIn('compose/invalid').filter(([, name]) => ALLOWED.test(name) && !name.includes('external')),
]

function refusedNames(path: string): string[] {
  return [...readFileSync(path, 'utf8').matchAll(/^# refused: .* (\S+)$/gm)].flatMap(
    (match) => match[1] ?? [],
  )
}

const docker = new Docker()

/** Names that a file fixes, and what stands for them in a plan. */
const FIXED = new Map([
  ['belljar-corpus-fixed', 'PROJECT_data'],
  ['belljar-corpus-network', 'PROJECT_a'],
  ['fixed-name-of-belljar-corpus', 'PROJECT-app-1'],
])

async function composeCreate(path: string, project: string): Promise<void> {
  const { file: command, leading } = await composeCommand()
  const args = [...leading, '-f', path, '--project-name', project, 'create', '--pull', 'never']
  const env = { DOCKER_CONFIG: '/nonexistent', ...socket() }
  await promisify(execFile)(command, args, { cwd: root, env, timeout: 60_000 })
}

function socket(): Record<string, string> {
  const host = process.env.DOCKER_HOST
  return host === undefined ? {} : { DOCKER_HOST: host }
}

describe.concurrent('what the engine makes of a plan', () => {
  it.each(files)('is what Compose creates from %s/%s', async (folder, file) => {
    const path = join(root, folder, file)
    const ending = `${process.pid}-${file.replace(/\W/g, '')}`
    const [theirs, ours] = [`belljar-theirs-${ending}`, `belljar-ours-${ending}`]
    try {
      const { plan } = await resolveCompose(path, {
        taskDirectory: join(root, folder),
        allow: refusedNames(path),
      })
      await composeCreate(path, theirs)
      const expected = await snapshot(docker, theirs, FIXED)
      await makeFromPlan(docker, ours, plan)
      expect(await snapshot(docker, ours, FIXED)).toEqual(expected)
    } finally {
      await Promise.all([removeProject(docker, theirs), removeProject(docker, ours)])
    }
  })
})
