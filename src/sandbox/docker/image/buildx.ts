import { execFile } from 'node:child_process'
import { delimiter, isAbsolute, join } from 'node:path'
import { SandboxInitError } from '../../../errors.ts'
import { isExecutable, PLUGIN_FOLDERS } from '../../compose/read/plugin.ts'
import type { BuildPlan, BuildxPlan } from '../../sandbox-plan.ts'
import { CACHE_LABEL } from '../identity/labels.ts'
import type { BuildRequest } from './build.ts'

const LINES_SHOWN = 40
const DEADLINE_MS = 3_600_000

/** The plugin's own binary: the docker command line is not needed. */
export async function findBuildx(path = process.env.PATH ?? ''): Promise<string | undefined> {
  const folders = [...PLUGIN_FOLDERS, ...path.split(delimiter).filter(isAbsolute)]
  for (const folder of folders) {
    const file = join(folder, 'docker-buildx')
    if (await isExecutable(file)) return file
  }
  return undefined
}

/** Why a build needs buildx, as the keys of a compose file. */
export function buildxReasons(plan: BuildxPlan): string[] {
  const { secrets, ssh, contexts, ulimits, allow, cacheTo, provenance, sbom } = plan
  return [
    ...(secrets.length > 0 ? ['secrets'] : []),
    ...(ssh.length > 0 ? ['ssh'] : []),
    ...(Object.keys(contexts).length > 0 ? ['additional_contexts'] : []),
    ...(ulimits.length > 0 ? ['ulimits'] : []),
    ...(allow.length > 0 ? ['entitlements'] : []),
    ...(cacheTo.length > 0 ? ['cache_to'] : []),
    ...(provenance === undefined ? [] : ['provenance']),
    ...(sbom === undefined ? [] : ['sbom']),
  ]
}

function many(flag: string, values: readonly string[]): string[] {
  return values.flatMap((value) => [flag, value])
}

function pairs(flag: string, values: Readonly<Record<string, unknown>>): string[] {
  return many(
    flag,
    Object.entries(values).map(([name, value]) => `${name}=${value}`),
  )
}

/** The options that the Engine's build call would have taken. */
function engineOptions({ options = {} }: BuildPlan): string[] {
  const { labels = {}, nocache, pull, extrahosts = [], shmsize, networkmode, cachefrom = [] } = options
  return [
    ...pairs('--label', labels as Record<string, unknown>),
    ...(nocache ? ['--no-cache'] : []),
    ...(pull ? ['--pull'] : []),
    ...many('--add-host', extrahosts as string[]),
    ...(shmsize === undefined ? [] : ['--shm-size', String(shmsize)]),
    ...(networkmode === undefined ? [] : ['--network', String(networkmode)]),
    ...many('--cache-from', cachefrom as string[]),
  ]
}

const secretVariable = (index: number) => `BELLJAR_BUILD_SECRET_${index}`

/** A secret's value goes through the environment, so that no list of processes shows it. */
function secretOptions({ secrets }: BuildxPlan): string[] {
  return many(
    '--secret',
    secrets.map(({ id, file }, index) =>
      file === undefined ? `id=${id},env=${secretVariable(index)}` : `id=${id},src=${file}`,
    ),
  )
}

export function buildxArguments(request: BuildxRequest): string[] {
  const { plan, hash, tag, imageOf } = request
  const { buildx, dockerfile, dockerfileInline, context, args, target, platform } = plan
  const contexts = Object.entries(buildx?.contexts ?? {}).map(([name, source]) => {
    const service = source.startsWith('service:') ? source.slice('service:'.length) : undefined
    return `${name}=${service === undefined ? source : `docker-image://${imageOf(service)}`}`
  })
  const file = isAbsolute(dockerfile) ? dockerfile : join(context, dockerfile)
  return [
    ...['build', '--load', '--progress', 'plain', '--tag', tag, '--label', `${CACHE_LABEL}=${hash}`],
    ...['--file', dockerfileInline === undefined ? file : '-'],
    ...pairs('--build-arg', args),
    ...(target ? ['--target', target] : []),
    ...(platform ? ['--platform', platform] : []),
    ...engineOptions(plan),
    ...(buildx ? secretOptions(buildx) : []),
    ...many('--ssh', buildx?.ssh ?? []),
    ...many('--build-context', contexts),
    ...many('--ulimit', buildx?.ulimits ?? []),
    ...many('--allow', buildx?.allow ?? []),
    ...many('--cache-to', buildx?.cacheTo ?? []),
    `--provenance=${buildx?.provenance ?? 'false'}`,
    ...(buildx?.sbom === undefined ? [] : [`--sbom=${buildx.sbom}`]),
    context,
  ]
}

function environment(plan: BuildxPlan | undefined, dockerHost: string): NodeJS.ProcessEnv {
  const { PATH, HOME, DOCKER_CONFIG, SSH_AUTH_SOCK } = process.env
  const secrets = (plan?.secrets ?? []).flatMap(({ value }, index) =>
    value === undefined ? [] : [[secretVariable(index), value] as const],
  )
  return {
    ...{ PATH, HOME, DOCKER_CONFIG },
    ...(plan && plan.ssh.length > 0 && { SSH_AUTH_SOCK }),
    DOCKER_HOST: dockerHost,
    ...Object.fromEntries(secrets),
  }
}

export interface BuildxRequest extends BuildRequest {
  readonly imageOf: (service: string) => string
}

/** Builds what the Engine's build call cannot carry. @throws SandboxInitError with the last lines of the build */
export async function buildWithBuildx(request: BuildxRequest, dockerHost: string): Promise<void> {
  const { plan, signal, report } = request
  const file = await findBuildx()
  if (file === undefined) {
    const keys = plan.buildx ? buildxReasons(plan.buildx).join(', ') : ''
    throw new SandboxInitError(
      `the build of ${plan.context} uses ${keys}, which needs buildx: install 'docker-buildx-plugin' from Docker's repository, or 'docker-buildx' from Debian 13 or newer`,
    )
  }
  report?.({ kind: 'build', message: `building ${plan.context} with buildx` })
  const env = environment(plan.buildx, dockerHost)
  await new Promise<void>((resolve, reject) => {
    const options = { env, signal, timeout: DEADLINE_MS, maxBuffer: 64 * 1024 * 1024 }
    const child = execFile(file, buildxArguments(request), options, (error, _stdout, stderr) => {
      if (!error) return resolve()
      if (signal.aborted) return reject(signal.reason)
      const lines = stderr.trimEnd().split('\n').slice(-LINES_SHOWN)
      const shown = lines.map((line) => `  | ${line}`).join('\n')
      reject(new SandboxInitError(`the build of ${plan.context} (${plan.dockerfile}) failed:\n${shown}`))
    })
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(plan.dockerfileInline ?? '')
  })
}
