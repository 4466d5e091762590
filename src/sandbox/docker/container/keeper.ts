import type { ContainerPlan } from '../../sandbox-plan.ts'

/** What is the container's main process, and whether belljar put it there. */
export interface Keeper {
  readonly body: { readonly Entrypoint?: readonly string[]; readonly Cmd?: readonly string[] }
  /** Nothing of the image runs before or instead of it. */
  readonly ownProcess: boolean
  readonly needsShell: boolean
}

const KEEP_ALIVE = ['sh', '-c', 'while :; do sleep 86400; done']

/** Chooses the main process: the plan's own, or a keep-alive in place of the image's command (behind its ENTRYPOINT, if any). */
export function chooseKeeper(plan: ContainerPlan, imageEntrypoint: readonly string[]): Keeper {
  const entrypoint = plan.entrypoint === undefined ? {} : { Entrypoint: plan.entrypoint }
  if (plan.command !== null) {
    const command = plan.command === undefined ? {} : { Cmd: plan.command }
    return { body: { ...entrypoint, ...command }, ownProcess: false, needsShell: false }
  }
  const before = plan.entrypoint ?? imageEntrypoint
  return { body: { ...entrypoint, Cmd: KEEP_ALIVE }, ownProcess: before.length === 0, needsShell: true }
}
