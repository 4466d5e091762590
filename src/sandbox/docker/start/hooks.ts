import { errorMessage } from '../../../errors.ts'
import { untilAborted } from '../../../util/abort.ts'
import type { HookPlan } from '../../sandbox-plan.ts'
import type { ContainerRef } from '../container/container-ref.ts'
import { helperExec } from '../exec/helper-exec.ts'
import { StartFailure } from './start-failure.ts'

/** A compose file has no number for it. */
const HOOK_MS = 300_000

function runHook(
  container: ContainerRef,
  hook: HookPlan,
  deadlineMs: number,
): Promise<{ exitCode: number; output: string }> {
  const { command, env, user, workdir, privileged } = hook
  return helperExec(container, command, { env, user, workdir, privileged, deadlineMs })
}

/** Runs a service's post_start hooks, one after the other, as Compose does. @throws StartFailure with what the hook printed */
export async function runPostStart(
  container: ContainerRef,
  hooks: readonly HookPlan[],
  signal: AbortSignal,
): Promise<void> {
  for (const [index, hook] of hooks.entries()) {
    const where = `post_start[${index}] of the sandbox service '${container.service}'`
    const { service } = container
    const { exitCode, output } = await untilAborted(runHook(container, hook, HOOK_MS), signal).catch(
      (cause) => {
        signal.throwIfAborted()
        throw new StartFailure(`${where} failed: ${errorMessage(cause)}`, { service, cause })
      },
    )
    if (exitCode === 0) continue
    throw new StartFailure(`${where} exited with code ${exitCode}${output ? `:\n${output}` : ''}`, {
      service,
    })
  }
}

/** Runs pre_stop hooks within the grace that the file gives; what they do changes nothing about the removal. */
export async function runPreStop(
  container: ContainerRef,
  hooks: readonly HookPlan[],
  graceMs: number,
): Promise<void> {
  const end = performance.now() + graceMs
  for (const hook of hooks) {
    const leftMs = end - performance.now()
    if (leftMs <= 0) return
    await runHook(container, hook, leftMs).catch(() => undefined)
  }
}
