import type { CliAgentOptions } from './cli-agent.ts'

/** What the ready-made definitions take beside their own. */
export interface NamedAgentOptions
  extends Pick<
    CliAgentOptions,
    'install' | 'installTimeoutMs' | 'models' | 'model' | 'service' | 'user' | 'cwd'
  > {
  /** More arguments of the command line. */
  readonly args?: readonly string[]
  /** More variables. */
  readonly env?: Readonly<Record<string, string>>
}
