/** What is started: the services of one sandbox, resolved. Every configuration becomes a plan, and only plans are started. */
export interface SandboxPlan {
  /** In start order. */
  readonly services: readonly ServicePlan[]
  readonly networks: readonly NetworkPlan[]
  readonly volumes: readonly VolumePlan[]
  readonly defaultService: string
}

/** One service. `container` is the body of the Engine's create call, less names, labels, image and networks. */
export interface ServicePlan {
  readonly name: string
  readonly image: ImagePlan
  readonly container: ContainerPlan
  /** Names of networks of the plan; empty with `networkMode` none. */
  readonly networks: readonly string[]
  readonly dependsOn: readonly ServiceDependency[]
}

export interface ServiceDependency {
  readonly service: string
  readonly condition: 'started' | 'healthy' | 'completed'
  readonly required: boolean
}

export type ImagePlan =
  | {
      readonly kind: 'reference'
      readonly reference: string
      readonly platform?: string
      readonly pull: PullPolicy
    }
  | { readonly kind: 'build'; readonly build: BuildPlan }

export type PullPolicy = 'missing' | 'never' | 'always'

export interface BuildPlan {
  /** Absolute host folder. */
  readonly context: string
  /** Relative to the context unless absolute. */
  readonly dockerfile: string
  readonly args: Readonly<Record<string, string>>
  readonly target?: string
  readonly platform?: string
}

/** Keys as the Engine's create call names them. */
export interface ContainerPlan {
  readonly entrypoint?: readonly string[]
  /** undefined: the image's own; null: whatever keeps the container alive. */
  readonly command?: readonly string[] | null
  readonly env: readonly string[]
  readonly user?: string
  readonly workdir?: string
  readonly hostConfig: Readonly<Record<string, unknown>>
  readonly extra: Readonly<Record<string, unknown>>
}

export interface NetworkPlan {
  readonly name: string
  readonly internal: boolean
}

export interface VolumePlan {
  readonly name: string
}
