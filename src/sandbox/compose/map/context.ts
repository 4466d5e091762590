/** What mapping needs beside the project, read beforehand, and what it reports. */
export interface MapContext {
  /** Compacted JSON by the path that `security_opt` names. */
  readonly seccompProfiles: ReadonlyMap<string, string>
  /** What `environment:` of secrets and configs may name: the `.env` file's and the sample's variables. */
  readonly environment: Readonly<Record<string, string>>
  /** Sources of bind mounts outside the task's folder: never created when missing. */
  readonly outsidePaths: ReadonlySet<string>
  /** `place: why` of what no plan can express. */
  readonly inexpressible: string[]
  /** `place: what was done` of what is neutralised so that copies can run side by side, or is not and stays shared. */
  readonly rewritings: string[]
}
