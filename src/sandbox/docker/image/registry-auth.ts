import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'

const configSchema = z.looseObject({
  auths: z.record(z.string(), z.looseObject({ auth: z.string().optional() })).optional(),
})

const DOCKER_HUB = 'https://index.docker.io/v1/'

/** The registry that a reference names, as the keys of Docker's configuration have it. */
export function registryOf(reference: string): string {
  const first = reference.split('/')[0] ?? ''
  const isHost =
    reference.includes('/') && (first.includes('.') || first.includes(':') || first === 'localhost')
  return isHost ? first : DOCKER_HUB
}

/** What `docker login` stored for the reference's registry (not what credential helpers hold). For the Engine only. */
export function registryAuth(reference: string): Record<string, string> {
  const file = join(process.env.DOCKER_CONFIG ?? join(homedir(), '.docker'), 'config.json')
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return {}
  }
  const registry = registryOf(reference)
  const auths = configSchema.safeParse(parsed).data?.auths ?? {}
  const auth = (auths[registry] ?? auths[`https://${registry}`])?.auth
  if (!auth) return {}
  const [username = '', ...password] = Buffer.from(auth, 'base64').toString().split(':')
  return { username, password: password.join(':'), serveraddress: registry }
}
