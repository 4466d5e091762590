import { ConfigError } from '../../errors.ts'
import type { Sample } from '../../sample/sample.ts'
import type { SandboxSpec } from '../../sample/sandbox-spec.ts'

export interface SandboxChoice {
  /** The run's option. */
  readonly run: SandboxSpec | undefined
  /** The task's own; false: none. */
  readonly task: SandboxSpec | false | undefined
  /** What lies beside the task file. */
  readonly discovered: SandboxSpec | undefined
}

/**
 * Which sandbox a sample gets. The kind is the run's, else the task's, else the sample's, else what was discovered. The configuration is
 * the sample's where its kind is that kind, else the first of run, task and discovery that has one of that kind.
 * @throws ConfigError when the kind needs a configuration and nobody names one
 */
export function chooseSandbox(
  choice: SandboxChoice,
  sample: Pick<Sample, 'sandbox'>,
): SandboxSpec | undefined {
  const { run, task, discovered } = choice
  if (run === undefined && task === false) return undefined
  const named = [run, task || undefined, sample.sandbox]
  const kind = (named.find((spec) => spec !== undefined) ?? discovered)?.kind
  if (kind === undefined) return undefined
  if (kind === 'local' && run === undefined && !task)
    throw new ConfigError(
      "sandbox 'local' isolates nothing: only a task or a run may choose it, not a sample",
    )
  const candidates = [sample.sandbox, run, task || undefined, discovered]
  const found = candidates.find((spec) => spec?.kind === kind && spec.config !== undefined)
  if (found) return found
  if (kind !== 'docker') return { kind }
  throw new ConfigError(
    "sandbox 'docker' needs a configuration: put a compose.yaml or a Dockerfile beside the task file, or name an image, a build folder or a compose file",
  )
}

/** Which sandbox the scorers of a sample get, where it is not the agent's: the sample's own, else the task's. @throws ConfigError */
export function chooseVerifier(
  task: SandboxSpec | undefined,
  { verifier = task }: Pick<Sample, 'verifier'>,
): SandboxSpec | undefined {
  if (verifier === undefined) return undefined
  if (verifier.kind === 'local' && task?.kind !== 'local')
    throw new ConfigError("sandbox 'local' isolates nothing: only a task may choose it for its verifier")
  if (verifier.kind === 'docker' && verifier.config === undefined)
    throw new ConfigError(
      "verifier 'docker' needs a configuration: name an image, a build folder or a compose file",
    )
  return verifier
}

/** What a choice of kind by the run leaves unused, for a warning; undefined when nothing is. */
export function droppedConfig(choice: SandboxChoice): string | undefined {
  const { run, task } = choice
  if (!run || !task || task.config === undefined || task.kind === run.kind) return undefined
  return `the task's sandbox ${JSON.stringify(task.config)} is for '${task.kind}' and is not used with --sandbox ${run.kind}`
}
