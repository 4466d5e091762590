import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const SCRIPT = fileURLToPath(new URL('../../scripts/second-engine.sh', import.meta.url))

/** A Docker engine that the bench has started for itself. */
export interface Engine {
  readonly name: string
  readonly socket: string
}

async function script(command: string, name: string): Promise<string> {
  const { DOCKER_HOST: _found, ...env } = process.env
  const { stdout } = await promisify(execFile)('bash', [SCRIPT, command, name], { env })
  return stdout.trim()
}

/** Also starts one again that was killed. */
export async function startEngine(name: string): Promise<Engine> {
  const host = await script('start', name)
  return { name, socket: host.replace('unix://', '') }
}

export async function killEngine({ name }: Engine): Promise<void> {
  await script('kill', name)
}

export async function stopEngine({ name }: Engine): Promise<void> {
  await script('stop', name)
}
