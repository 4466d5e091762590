import { securityOption } from '../compose/map/index.ts'
import type { NamedService, PolicySubject, Refusal } from './refusal.ts'

const DEFAULT_CAPABILITIES = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

function capabilityRefusals({ place, service }: NamedService): Refusal[] {
  return (service.cap_add ?? []).flatMap((written, index) => {
    const capability = written.toUpperCase().replace(/^CAP_/, '')
    if (DEFAULT_CAPABILITIES.has(capability)) return []
    return [
      {
        place: `${place}.cap_add[${index}]`,
        why: `the capability ${capability}`,
        allow: `cap-add:${capability}`,
      },
    ]
  })
}

/** A profile that allows by default is unconfined in all but name. */
function isPermissive(profile: string): boolean {
  try {
    const { defaultAction } = JSON.parse(profile) as { defaultAction?: unknown }
    return !/^SCMP_ACT_(ERRNO|KILL|KILL_PROCESS|KILL_THREAD|TRAP)$/.test(String(defaultAction))
  } catch {
    return true
  }
}

function securityRefusal(written: string, profiles: PolicySubject['seccompProfiles']) {
  const { name, value } = securityOption(written)
  if (name === 'seccomp' && value !== 'builtin') {
    const profile = profiles.get(value)
    if (value !== 'unconfined' && (profile === undefined || !isPermissive(profile))) return undefined
    return { why: 'system calls that Docker blocks', allow: 'seccomp-unconfined' }
  }
  if (name === 'apparmor') {
    return value === 'unconfined' ? { why: 'no AppArmor profile', allow: 'apparmor-unconfined' } : undefined
  }
  if (name === 'systempaths') return { why: "the kernel's masked paths", allow: 'systempaths-unconfined' }
  if (name === 'label') return { why: 'another SELinux label', allow: `label:${value}` }
  if (name === 'no-new-privileges' || name === 'seccomp') return undefined
  return { why: `the security option ${name}`, allow: `security-opt:${name}` }
}

function securityRefusals({ place, service }: NamedService, subject: PolicySubject): Refusal[] {
  return (service.security_opt ?? []).flatMap((written, index) => {
    const refusal = securityRefusal(written, subject.seccompProfiles)
    return refusal === undefined ? [] : [{ place: `${place}.security_opt[${index}]`, ...refusal }]
  })
}

function privilegedRefusals({ place, service }: NamedService): Refusal[] {
  const refusal = { why: 'full access to the host', allow: 'privileged' }
  const hooks = (['post_start', 'pre_stop'] as const).flatMap((key) =>
    (service[key] ?? []).flatMap((hook, index) =>
      hook.privileged ? [{ place: `${place}.${key}[${index}].privileged`, ...refusal }] : [],
    ),
  )
  return service.privileged ? [{ place: `${place}.privileged`, ...refusal }, ...hooks] : hooks
}

export function privilegeRefusals(named: NamedService, subject: PolicySubject): Refusal[] {
  return [...privilegedRefusals(named), ...capabilityRefusals(named), ...securityRefusals(named, subject)]
}
