import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readLog } from '../../src/log/read/log-reader.ts'
import { connectEngine } from '../../src/sandbox/docker/engine/engine.ts'
import { removeSelected } from '../../src/sandbox/docker/remove.ts'
import { Cli, type CliEvent } from '../support/cli.ts'

const SECRETS = {
  environment: 'sk-from-the-environment',
  declared: 'value of a declared one',
  file: 'line "one" of the file',
  dotenv: 'from-dot-env-0123',
}

const FILES = {
  'compose.yaml': `services:
  default:
    image: busybox:latest
    command: ['sh', '-c', 'cat /run/secrets/*; sleep infinity']
    secrets: [file-secret, env-secret]
secrets:
  file-secret: { file: ./secret.txt }
  env-secret: { environment: DOT_ENV_VALUE }
`,
  'secret.txt': `${SECRETS.file}\n`,
  '.env': `DOT_ENV_VALUE=${SECRETS.dotenv}\n`,
  'task.ts': `import { defineTask, docker } from 'belljar'
const { MODEL_API_KEY: key, DECLARED: declared } = process.env
const agent = async ({ sandbox }) => {
  await sandbox.exec(['sh', '-c', 'cat /run/secrets/*; echo "$0 $1"; sleep 2', key, declared])
  throw new Error(\`refused for \${key} and \${declared}\`)
}
const dataset = [{ id: \`sample \${key}\`, input: \`use \${declared}\` }]
export default defineTask({ name: 'secrets', dataset, agent, sandbox: docker('compose.yaml'), secrets: ['DECLARED'] })
`,
}

async function bytesBelow(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n')
}

const shown = (text: string) =>
  Object.values(SECRETS).filter(
    (secret) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)),
  )

describe('secrets of the environment, of a declaration and of a compose file', () => {
  it('are in no log, journal, service log, event, message or label', async () => {
    const engine = await connectEngine()
    const environment = { MODEL_API_KEY: SECRETS.environment, DECLARED: SECRETS.declared }
    const args = [
      'run',
      'task.ts',
      '--json',
      '--keep',
      'all',
      '--service-logs',
      'all',
      '--log-level',
      'debug',
    ]
    await using run = await Cli.start(args, FILES, environment)
    const start = await run.event(({ type }) => type === 'run-start')
    const { run: id } = start as Extract<CliEvent, { type: 'run-start' }>
    try {
      await run.event((event) => event.type === 'sample-phase' && event.phase === 'agent')
      expect(shown(await bytesBelow(join(run.directory, 'logs')))).toEqual([])
      const { stdout, stderr, exitCode } = await run.end()
      expect(exitCode, stderr).toBe(3)
      const containers = await engine.control.listContainers({
        all: true,
        filters: { label: [`belljar.run=${id}`] },
      })
      const labels = JSON.stringify(containers.map(({ Labels, Names }) => [Labels, Names]))
      expect(labels).toContain('sample [secret MODEL_API_KEY]')
      const logs = join(run.directory, 'logs')
      const [log = ''] = (await readdir(logs)).filter((name) => name.endsWith('.eval'))
      const records = []
      for await (const record of readLog(join(logs, log))) records.push(record)
      const told = JSON.stringify(records)
      for (const name of ['MODEL_API_KEY', 'DECLARED', 'file-secret', 'env-secret'])
        expect(told).toContain(`[secret ${name}]`)
      for (const text of [told, stdout, stderr, labels, await bytesBelow(logs)])
        expect(shown(text)).toEqual([])
    } finally {
      await removeSelected(engine, { run: id })
      engine.close()
    }
  })
})
