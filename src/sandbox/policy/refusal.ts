import type { ComposeProject, ComposeService } from '../compose/map/index.ts'

/** Something that a task may not have unless it names it in `allow`. */
export interface Refusal {
  /** Where in the file, such as `services.web.privileged`. */
  readonly place: string
  /** What it would give the sandbox. */
  readonly why: string
  /** The name that unlocks it, such as `cap-add:NET_ADMIN`. */
  readonly allow: string
}

export type HostPathUse = 'bind' | 'file' | 'context'

/** A path of the host that the sandbox is given, or that is read for it. */
export interface HostPath {
  readonly place: string
  readonly use: HostPathUse
  /** Absolute, as written; an address where `remote`. */
  readonly path: string
  /** With all links resolved. */
  readonly real: string
  readonly remote: boolean
}

export interface PolicySubject {
  readonly project: ComposeProject
  readonly hostPaths: readonly HostPath[]
  /** Content of seccomp profiles by the path that `security_opt` names. */
  readonly seccompProfiles: ReadonlyMap<string, string>
}

export interface NamedService {
  readonly place: string
  readonly service: ComposeService
}
