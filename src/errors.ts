/** Root of all errors that belljar throws on purpose: a stable `code` and, in subclasses, data fields. */
export class BelljarError extends Error {
  readonly code: string

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

/** Wrong usage or configuration, found before anything was started. `where` names the file, line, field or flag. */
export class ConfigError extends BelljarError {
  readonly where: string | undefined

  constructor(message: string, options?: { where?: string; cause?: unknown }) {
    super('config', options?.where ? `${options.where}: ${message}` : message, options)
    this.where = options?.where
  }
}

/** A pool of examples that cannot supply as many as prompts are to show. */
export class FewShotPoolError extends BelljarError {
  readonly asked: number
  readonly have: number
  /** Name of the pool. */
  readonly split: string | undefined
  readonly group: string | undefined

  constructor(data: { asked: number; have: number; split?: string; group?: string }) {
    const { asked, have, split, group } = data
    const pool = split === undefined ? 'its pool' : `'${split}'`
    const part = group === undefined ? '' : ` in group '${group}'`
    super(
      'few-shot-pool',
      `fewShot: ${asked} examples were asked for, ${pool} has ${have}${part}; ask for fewer or give a larger pool`,
    )
    this.asked = asked
    this.have = have
    this.split = split
    this.group = group
  }
}

/** A sandbox configuration that could not be made ready (build, pull, validation). `transient`: trying again may help. */
export class SandboxInitError extends BelljarError {
  readonly transient: boolean

  constructor(message: string, options?: { transient?: boolean; cause?: unknown }) {
    super('sandbox-init', message, options)
    this.transient = options?.transient ?? false
  }
}

/** The engine has no room left on its disk for what was to be pulled, built or made. */
export class DiskFullError extends BelljarError {
  /** The engine's folder on its host. */
  readonly folder: string
  /** undefined: it cannot be seen from here, as the engine is on another host. */
  readonly freeBytes: number | undefined

  constructor(message: string, data: { folder: string; freeBytes: number | undefined; cause?: unknown }) {
    super('disk-full', message, data)
    this.folder = data.folder
    this.freeBytes = data.freeBytes
  }
}

export type UnavailableReason =
  | 'oom'
  | 'exited'
  | 'killed'
  | 'removed'
  | 'paused'
  | 'daemon'
  | 'tampered'
  | 'start'
  /** It was still coming up when its time was over: the machine may only be slow. */
  | 'start-timeout'
  | 'unknown'

/** The sandbox itself failed, not a command in it. Never thrown for anything that a command can do by exiting. */
export class SandboxUnavailableError extends BelljarError {
  readonly reason: UnavailableReason
  readonly service: string | undefined
  /** What was seen of the dead container: state, exit code, last log lines. Text from a sandbox: escape before printing. */
  readonly postMortem: string | undefined

  constructor(
    message: string,
    data: { reason: UnavailableReason; service?: string; postMortem?: string; cause?: unknown },
  ) {
    super('sandbox-unavailable', message, data)
    this.reason = data.reason
    this.service = data.service
    this.postMortem = data.postMortem
  }
}

/** What a command had printed when it was stopped; each stream holds at most the output cap (its tail). */
export interface PartialOutput {
  readonly stdout: string
  readonly stderr: string
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly truncated: boolean
}

/** The deadline of a command passed; its whole process tree was killed before this was thrown. */
export class ExecTimeoutError extends BelljarError {
  readonly timeoutMs: number
  readonly partial: PartialOutput

  constructor(message: string, data: { timeoutMs: number; partial: PartialOutput }) {
    super('exec-timeout', message)
    this.timeoutMs = data.timeoutMs
    this.partial = data.partial
  }
}

/** The caller's signal was aborted; the process tree was killed before this was thrown. `cause` is the signal's reason. */
export class ExecAbortedError extends BelljarError {
  readonly partial: PartialOutput

  constructor(message: string, data: { partial: PartialOutput; cause?: unknown }) {
    super('exec-aborted', message, data)
    this.partial = data.partial
  }
}

export type FileErrorKind =
  | 'not-found'
  | 'permission'
  | 'is-a-directory'
  | 'not-a-regular-file'
  | 'too-large'
  | 'not-a-directory'
  | 'invalid-path'
  | 'no-space'
  | 'read-only'
  | 'other'

/** A file operation in a sandbox failed for a reason of the file's, as the acting user met it. */
export class SandboxFileError extends BelljarError {
  readonly kind: FileErrorKind
  readonly path: string
  readonly service: string | undefined

  constructor(
    message: string,
    data: { kind: FileErrorKind; path: string; service?: string; cause?: unknown },
  ) {
    super(`file-${data.kind}`, message, data)
    this.kind = data.kind
    this.path = data.path
    this.service = data.service
  }
}

/** This transport or provider cannot do what was asked (for instance: another user without the right to switch). */
export class UnsupportedError extends BelljarError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('unsupported', message, options)
  }
}

export type ModelErrorKind =
  | 'rate-limit'
  | 'overloaded'
  | 'timeout'
  | 'connection'
  | 'authentication'
  | 'not-found'
  /** The conversation is longer than the model can hold. */
  | 'context-length'
  | 'request'
  /** The answer could not be read. */
  | 'response'
  | 'other'

/** A model call that gave no answer. `transient`: the same call may pass later. */
export class ModelError extends BelljarError {
  readonly kind: ModelErrorKind
  readonly model: string
  readonly transient: boolean
  readonly status: number | undefined
  /** How long the provider asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** Bodies as sent and received. */
  readonly call: { readonly request: unknown; readonly response?: unknown } | undefined

  constructor(message: string, data: ModelErrorData) {
    super(`model-${data.kind}`, message, data)
    this.kind = data.kind
    this.model = data.model
    this.transient = data.transient ?? TRANSIENT_MODEL_ERRORS.includes(data.kind)
    this.status = data.status
    this.retryAfterMs = data.retryAfterMs
    this.call = data.call
  }
}

export interface ModelErrorData {
  readonly kind: ModelErrorKind
  readonly model: string
  /** Default: by the kind. */
  readonly transient?: boolean
  readonly status?: number
  readonly retryAfterMs?: number
  readonly call?: { readonly request: unknown; readonly response?: unknown }
  readonly cause?: unknown
}

const TRANSIENT_MODEL_ERRORS: readonly ModelErrorKind[] = [
  'rate-limit',
  'overloaded',
  'timeout',
  'connection',
  'response',
]

export type LimitType =
  | 'time'
  | 'working'
  | 'message'
  | 'token'
  | 'output-token'
  | 'turn'
  | 'cost'
  | 'operator'
  | 'custom'

/** A sample spent what it was allowed. A normal outcome: the sample is scored on what is there. */
export class LimitExceededError extends BelljarError {
  readonly type: LimitType
  readonly limit: number

  constructor(data: { type: LimitType; limit: number; message?: string }) {
    super('limit-exceeded', data.message ?? `the sample's ${data.type} limit of ${data.limit} was reached`)
    this.type = data.type
    this.limit = data.limit
  }
}

/** A sample id that is in use already; `first` and `second` say where each of the two came from. */
export class DuplicateSampleError extends BelljarError {
  readonly id: string
  readonly first: string
  readonly second: string

  constructor(data: { id: string; first: string; second: string }) {
    super(
      'duplicate-sample',
      `duplicate sample id '${data.id}': first from ${data.first}, again from ${data.second}`,
    )
    this.id = data.id
    this.first = data.first
    this.second = data.second
  }
}

export type NotCompletedReason = 'abandoned' | 'filtered' | 'over-limit' | 'task-ended'

/** `completed()` of an enqueued sample could not be fulfilled; `records` holds what epochs had ended by then. */
export class SampleNotCompletedError<Record = unknown> extends BelljarError {
  readonly reason: NotCompletedReason
  readonly id: string
  readonly records: readonly Record[]

  constructor(data: {
    id: string
    reason: NotCompletedReason
    records: readonly Record[]
    message?: string
  }) {
    super(`sample-${data.reason}`, data.message ?? `sample '${data.id}' did not complete (${data.reason})`)
    this.reason = data.reason
    this.id = data.id
    this.records = data.records
  }
}

/** The text of anything thrown, for a person. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
