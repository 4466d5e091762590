const NAMES = [
  'apparmor-unconfined',
  'build-cache',
  'build-host-network',
  'build-privileged',
  'build-ssh',
  'cgroup-parent',
  'device-cgroup-rules',
  'docker-socket',
  'gpus',
  'host-cgroup',
  'host-gateway',
  'host-ipc',
  'host-network',
  'host-pid',
  'host-userns',
  'host-uts',
  'privileged',
  'seccomp-unconfined',
  'systempaths-unconfined',
  'volumes-from',
] as const

/** Each is followed by what it allows. */
const PREFIXES = [
  'bind:',
  'build-entitlement:',
  'cap-add:',
  'container:',
  'context:',
  'device:',
  'external-volume:',
  'file:',
  'label:',
  'log-driver:',
  'network-driver:',
  'network-option:',
  'port:',
  'remote:',
  'security-opt:',
  'volume-driver:',
  'volume-options:',
] as const

/** Whether some rule of the policy could ever be unlocked by a name. */
export function isSandboxAllowance(name: string): boolean {
  const isNamed = NAMES.some((known) => known === name)
  return isNamed || PREFIXES.some((prefix) => name.startsWith(prefix) && name.length > prefix.length)
}

/** For the refusal of an unknown one. */
export const SANDBOX_ALLOWANCES: readonly string[] = [...NAMES, ...PREFIXES.map((prefix) => `${prefix}...`)]
