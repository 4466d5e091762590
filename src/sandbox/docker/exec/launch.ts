import { UnsupportedError } from '../../../errors.ts'
import type { LaunchErrorKind } from '../../sandbox.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { hasShell } from '../container/shell.ts'
import { helperExec } from './helper-exec.ts'

/** The kernel's limit for one argument or variable, its final zero byte included. */
const LONGEST_ARGUMENT_BYTES = 131_072
/** A quarter of the usual stack limit is what all of them may have together. */
const LONGEST_TOTAL_BYTES = 2 * 1024 * 1024

export function argumentsTooLong(
  argv: readonly string[],
  env: Readonly<Record<string, string>> | undefined,
): boolean {
  const strings = [...argv, ...Object.entries(env ?? {}).map(([name, value]) => `${name}=${value}`)]
  const sizes = strings.map((text) => Buffer.byteLength(text) + 1)
  const total = sizes.reduce((sum, size) => sum + size + 8, 0)
  return sizes.some((size) => size > LONGEST_ARGUMENT_BYTES) || total > LONGEST_TOTAL_BYTES
}

/**
 * Why the Engine could not even start the wrapper. Its words are not read; what is found out is what would have to
 * hold: a shell, the user, room for a process.
 * @throws UnsupportedError when the image has no shell; EngineError or Error where it cannot be found out
 */
export async function diagnoseLaunch(
  container: ContainerRef,
  argv: readonly string[],
  user: string | undefined,
): Promise<LaunchErrorKind> {
  if (!(await hasShell(container))) {
    throw new UnsupportedError(
      `the service '${container.service}' has no /bin/sh, which running ${JSON.stringify(argv[0])} through the Engine needs`,
    )
  }
  const works = (script: string, asUser: string | undefined) =>
    helperExec(container, ['sh', '-c', script], { user: asUser, deadlineMs: 10_000 }).then(
      ({ exitCode }) => exitCode === 0,
    )
  if (!(await works('(:) && (:)', '0'))) return 'resources'
  if (!(await works(':', user))) return user === undefined ? 'other' : 'no-such-user'
  return 'arguments-too-long'
}
