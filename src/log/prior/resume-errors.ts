import { BelljarError } from '../../errors.ts'

/** A log cannot be resumed; nothing was started. `log` is its path. The message ends in the ways out. */
abstract class ResumeError extends BelljarError {
  readonly log: string

  constructor(
    code: string,
    message: string,
    data: { log: string; waysOut: readonly string[]; cause?: unknown },
  ) {
    super(
      code,
      `${data.log}: ${message}${message.endsWith('\n') ? '' : '. '}${waysOutText(data.waysOut)}`,
      data,
    )
    this.log = data.log
  }
}

function waysOutText(waysOut: readonly string[]): string {
  const text = `${waysOut.join(', or ')}.`
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

/** The eval is still going on, or is being resumed already. */
export class RunExistsError extends ResumeError {
  constructor(message: string, data: { log: string; cause?: unknown }) {
    super('run-exists', message, {
      ...data,
      waysOut: ['wait for its end', 'start a new run without resuming'],
    })
  }
}

/** No header can be read, or another version of belljar wrote the log that may mean something else by it. */
export class ResumeVersionError extends ResumeError {
  constructor(message: string, data: { log: string; version?: string | undefined; cause?: unknown }) {
    const install = data.version
      ? `resume it with a version that fits (it was written by ${data.version})`
      : 'recover the log, if it is one of belljar'
    super('resume-version', message, { ...data, waysOut: [install, 'start a new run without resuming'] })
  }
}

/** The log is of another task. */
export class ResumeIdentityError extends ResumeError {
  /** What the log is of. */
  readonly recorded: string
  readonly current: string

  constructor(data: { log: string; recorded: string; current: string }) {
    super('resume-identity', `the log is of task '${data.recorded}', not of '${data.current}'`, {
      ...data,
      waysOut: [
        'start a new run without resuming',
        `name '${data.recorded}' among the aliases of the task, if it was renamed`,
      ],
    })
    this.recorded = data.recorded
    this.current = data.current
  }
}

/** Something has changed that results depend on. `changes` says what, one each. */
export class ResumeConfigError extends ResumeError {
  readonly changes: readonly string[]

  constructor(data: { log: string; changes: readonly string[] }) {
    const changes = data.changes.map((change) => `\n  ${change}`).join('')
    super('resume-config', `what results depend on has changed since:${changes}\n`, {
      log: data.log,
      waysOut: ['set it back as it was', 'start a new run without resuming'],
    })
    this.changes = data.changes
  }
}
