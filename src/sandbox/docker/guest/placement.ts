import type { ContainerPlan } from '../../sandbox-plan.ts'

/** How commands and files reach a service: over a guest that is its main process, one started by exec, or the Engine's own exec. */
export type Placement =
  | { readonly kind: 'init' | 'exec'; readonly asRoot: boolean }
  | { readonly kind: 'engine'; readonly reason: string }

/** What a guest that is root needs to switch users, to kill and to own files. */
const NEEDED = ['SETUID', 'SETGID', 'KILL', 'SETPCAP', 'DAC_OVERRIDE', 'CHOWN']

function capabilities(list: unknown): string[] {
  if (!Array.isArray(list)) return []
  return list.map((name) => String(name).toUpperCase().replace(/^CAP_/, ''))
}

function hasNeeded(hostConfig: ContainerPlan['hostConfig']): boolean {
  const added = capabilities(hostConfig.CapAdd)
  const dropped = capabilities(hostConfig.CapDrop)
  const kept = (name: string) => !dropped.includes(name) && !dropped.includes('ALL')
  return added.includes('ALL') || NEEDED.every((name) => added.includes(name) || kept(name))
}

/** Such a service could make the guest's volume writable, and that is shared by the whole run. */
function canRemount({ Privileged, CapAdd }: ContainerPlan['hostConfig']): boolean {
  const added = capabilities(CapAdd)
  return Privileged === true || added.includes('ALL') || added.includes('SYS_ADMIN')
}

/** Why something in a service could speak in the name of its guest, where it could. */
export function forgery(container: ContainerPlan, imageUser: string): string | undefined {
  const { CapAdd, Runtime } = container.hostConfig
  if (capabilities(CapAdd).some((name) => name === 'ALL' || name === 'SYS_PTRACE')) {
    return 'the capability SYS_PTRACE lets root in it forge results'
  }
  const [user = ''] = (container.user ?? imageUser).split(':')
  const isRoot = user === '' || user === '0' || user === 'root'
  if (!String(Runtime ?? '').includes('runsc') || !isRoot) return undefined
  return 'under gVisor root in it can forge results; a user other than root cannot'
}

/** Chooses for one service; `unusable` says why there is no guest at all, if there is none. */
export function placeGuest(
  container: ContainerPlan,
  imageEntrypoint: readonly string[],
  unusable: string | undefined,
): Placement {
  if (container.helper) return { kind: 'engine', reason: "it is belljar's own" }
  if (unusable !== undefined) return { kind: 'engine', reason: unusable }
  if (canRemount(container.hostConfig)) {
    return { kind: 'engine', reason: 'the service is privileged, or has the capability SYS_ADMIN' }
  }
  const ownCommand = container.command === null && (container.entrypoint ?? imageEntrypoint).length === 0
  return { kind: ownCommand ? 'init' : 'exec', asRoot: hasNeeded(container.hostConfig) }
}
