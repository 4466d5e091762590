import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ConfigError } from '../../../errors.ts'

export const OLDEST_COMPOSE = '2.26'

export const PLUGIN_FOLDERS = [
  join(homedir(), '.docker/cli-plugins'),
  '/usr/local/lib/docker/cli-plugins',
  '/usr/local/libexec/docker/cli-plugins',
  '/usr/lib/docker/cli-plugins',
  '/usr/libexec/docker/cli-plugins',
  '/Applications/Docker.app/Contents/Resources/cli-plugins',
]

const HOW_TO_INSTALL =
  "install the Compose plugin: 'docker-compose-plugin' from Docker's repository, or 'docker-compose' from Debian 13 or newer"

/** How Compose is called: the plugin's own binary where there is one, so that the docker command line is not needed. */
export interface ComposeCommand {
  readonly file: string
  readonly leading: readonly string[]
  readonly version: string
  /** Only where the command is looked up by name: Compose would else offer it to the file as a variable. */
  readonly path?: string
}

export interface PluginSearch {
  readonly folders?: readonly string[]
  readonly path?: string
}

function isAtLeast(version: string, oldest: string): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number)
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}

async function versionOf(candidate: Omit<ComposeCommand, 'version'>): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(
      candidate.file,
      [...candidate.leading, 'version', '--short'],
      { env: candidate.path === undefined ? {} : { PATH: candidate.path }, timeout: 30_000 },
    )
    return stdout.trim()
  } catch {
    return undefined
  }
}

export async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** @throws ConfigError where none is there or all are too old */
export async function findCompose({
  folders = PLUGIN_FOLDERS,
  path = process.env.PATH,
}: PluginSearch = {}): Promise<ComposeCommand> {
  const candidates: Omit<ComposeCommand, 'version'>[] = []
  for (const folder of folders) {
    const file = join(folder, 'docker-compose')
    if (await isExecutable(file)) candidates.push({ file, leading: [] })
  }
  if (path) {
    candidates.push(
      { file: 'docker', leading: ['compose'], path },
      { file: 'docker-compose', leading: [], path },
    )
  }
  const tooOld: string[] = []
  for (const candidate of candidates) {
    const version = await versionOf(candidate)
    if (version === undefined) continue
    if (isAtLeast(version, OLDEST_COMPOSE)) return { ...candidate, version }
    tooOld.push(version)
  }
  const found = tooOld.length > 0 ? `found only ${tooOld.join(', ')}` : 'found none'
  throw new ConfigError(`Docker Compose ${OLDEST_COMPOSE} or newer is needed, ${found}; ${HOW_TO_INSTALL}`)
}

let found: Promise<ComposeCommand> | undefined

/** As `findCompose`, once per process unless it failed. */
export function composeCommand(): Promise<ComposeCommand> {
  found ??= findCompose().catch((error: unknown) => {
    found = undefined
    throw error
  })
  return found
}
