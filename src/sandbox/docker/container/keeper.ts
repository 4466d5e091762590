import type { ContainerPlan } from '../../sandbox-plan.ts'
import type { Delivery } from '../guest/guests.ts'
import { GUEST_PATH } from '../guest/paths.ts'

/** What is the container's main process, and whether belljar put it there. */
export interface Keeper {
  readonly body: Readonly<Record<string, unknown>>
  /** Takes the place of what the plan says. */
  readonly hostConfig: Readonly<Record<string, unknown>>
  /** Nothing of the image runs before or instead of it. */
  readonly ownProcess: boolean
  readonly needsShell: boolean
}

const KEEP_ALIVE = ['sh', '-c', 'while :; do sleep 86400; done']

/** Chooses the main process: the guest, the plan's own, or a keep-alive in place of the image's command (behind its ENTRYPOINT, if any). */
export function chooseKeeper(
  plan: ContainerPlan,
  imageEntrypoint: readonly string[],
  delivery: Delivery,
): Keeper {
  const { placement } = delivery
  if (placement.kind === 'init') return guestKeeper(placement.asRoot, delivery.autoRemove)
  const entrypoint = plan.entrypoint === undefined ? {} : { Entrypoint: plan.entrypoint }
  if (plan.command !== null) {
    const command = plan.command === undefined ? {} : { Cmd: plan.command }
    return { body: { ...entrypoint, ...command }, hostConfig: {}, ownProcess: false, needsShell: false }
  }
  const before = plan.entrypoint ?? imageEntrypoint
  return {
    body: { ...entrypoint, Cmd: KEEP_ALIVE },
    hostConfig: {},
    ownProcess: before.length === 0,
    needsShell: true,
  }
}

/** All that it says goes through the Engine's log driver, and it reaps orphans itself. */
function guestKeeper(asRoot: boolean, autoRemove: boolean): Keeper {
  return {
    body: {
      Entrypoint: [GUEST_PATH],
      Cmd: [],
      OpenStdin: true,
      StdinOnce: true,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      StopSignal: 'SIGKILL',
      StopTimeout: 0,
      ...(asRoot && { User: '0:0' }),
    },
    hostConfig: { Init: false, AutoRemove: autoRemove, LogConfig: { Type: 'none', Config: {} } },
    ownProcess: true,
    needsShell: false,
  }
}
