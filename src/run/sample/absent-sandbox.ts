import { ConfigError } from '../../errors.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'

/** What stands for a sandbox where there is none: every call is an error that says why. */
export function absentSandbox(why: string): Sandbox {
  const refuse = async () => {
    throw new ConfigError(why)
  }
  return {
    service: 'none',
    exec: refuse,
    spawn: refuse,
    readFile: refuse,
    readText: refuse,
    writeFile: refuse,
    upload: refuse,
    download: refuse,
    stat: refuse,
    exists: refuse,
    list: refuse,
    remove: refuse,
    listen: refuse,
    shellCommand: () => '',
  }
}
