import { errorMessage, SandboxUnavailableError } from '../../../errors.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { findUnavailable } from '../container/post-mortem.ts'
import { call } from '../engine/call.ts'
import { helperExec } from './helper-exec.ts'
import { killTreeCommand } from './kill-tree.ts'

const KILL_DEADLINE_MS = 20_000

/**
 * Kills the whole tree of one command and returns when none of it is left. Where that cannot be done from inside, the
 * container is killed: the kill of last resort.
 * @throws SandboxUnavailableError then, or when the container is gone already
 */
export async function killCommand(
  container: ContainerRef,
  target: { id: string; wrapperPid: number | undefined; user: string | undefined },
): Promise<void> {
  const argv = killTreeCommand(target.id, target.wrapperPid)
  let failure: string
  try {
    if (!isRoot(target.user)) await killAsUser(container, argv, target.user)
    const { exitCode, output } = await helperExec(container, argv, {
      user: '0',
      deadlineMs: KILL_DEADLINE_MS,
    })
    if (exitCode === 0) return
    failure = exitCode === 9 ? `these processes did not die:${output.trimEnd()}` : output.trim()
  } catch (error) {
    failure = errorMessage(error)
  }
  const gone = await findUnavailable(container, failure)
  if (gone) throw gone
  container.engine.openStreams.destroy(container.id)
  await call('killing a container', { deadlineMs: 10_000 }, () =>
    container.control.kill({ signal: 'SIGKILL' }),
  ).catch(() => undefined)
  throw new SandboxUnavailableError(
    `the sandbox service '${container.service}' was killed because a command in it could not be (${failure})`,
    { reason: 'killed', service: container.service, cause: failure },
  )
}

/** The same for whatever any command has left: all that carries the variable of one, whichever. */
export async function killAllCommands(container: ContainerRef): Promise<void> {
  await killCommand(container, { id: '', wrapperPid: undefined, user: undefined })
}

const isRoot = (user: string | undefined) => user !== undefined && /^(0|root)(:|$)/.test(user)

/** Without SYS_PTRACE root may not read the environment of another user's processes, but that user may. */
async function killAsUser(
  container: ContainerRef,
  argv: readonly string[],
  user: string | undefined,
): Promise<void> {
  await helperExec(container, argv, { user, deadlineMs: KILL_DEADLINE_MS }).catch(() => undefined)
}
