import { readFileSync } from 'node:fs'
import { ownFacts } from '../identity/owner.ts'

export interface ProcessSurroundings {
  readonly pidNamespace: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Text of /proc/self/cgroup. */
  readonly cgroups: string
}

/** The pid namespace that the kernel makes first has this inode, on every Linux. */
const FIRST_PID_NAMESPACE = '4026531836'
const BATCH_JOBS = { SLURM_JOB_ID: 'Slurm', PBS_JOBID: 'PBS', LSB_JOBID: 'LSF', JOB_ID: 'Grid Engine' }

/** What ends every process that a run starts, detached or not; undefined where nothing does. */
export function endsWith(surroundings: ProcessSurroundings): string | undefined {
  const { pidNamespace, environment, cgroups } = surroundings
  if (pidNamespace !== '' && pidNamespace !== FIRST_PID_NAMESPACE) return 'this container'
  for (const [variable, name] of Object.entries(BATCH_JOBS)) {
    if (variable === 'JOB_ID' && environment.SGE_ROOT === undefined) continue
    if (environment[variable] !== undefined) return `this ${name} job`
  }
  const service = /\/([^/]+\.service)$/m.exec(cgroups)?.[1]
  const isLogin =
    service === undefined || /^(user@\d+|ssh|sshd|cron|crond|docker|containerd)\.service$/.test(service)
  return environment.INVOCATION_ID !== undefined && !isLogin ? `the systemd service ${service}` : undefined
}

export function ownSurroundings(): ProcessSurroundings {
  let cgroups = ''
  try {
    cgroups = readFileSync('/proc/self/cgroup', 'utf8')
  } catch {
    // No Linux: no cgroups.
  }
  return { pidNamespace: ownFacts().pidNamespace, environment: process.env, cgroups }
}
