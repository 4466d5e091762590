/**
 * What is started: the services of one sandbox, resolved. Every configuration becomes a plan, and only plans are started.
 * Names in a plan are logical: each start gives its copy names, subnets and host ports of its own.
 */
export interface SandboxPlan {
  /** In start order. */
  readonly services: readonly ServicePlan[]
  readonly networks: readonly NetworkPlan[]
  readonly volumes: readonly VolumePlan[]
  readonly defaultService: string
}

/** One service. `container` is the body of the Engine's create call, less names, labels of belljar's, image and networks. */
export interface ServicePlan {
  readonly name: string
  /** How many numbered containers; default 1. */
  readonly replicas?: number
  readonly image: ImagePlan
  readonly container: ContainerPlan
  /** Names of networks of the plan, by priority: the first is the container's `NetworkMode`. Empty with `NetworkMode` none or `joins.network`. */
  readonly networks: readonly string[]
  /** The Engine's EndpointSettings by network of the plan; the container's own name as alias is the start's to add. */
  readonly endpoints?: Readonly<Record<string, EndpointPlan>>
  readonly dependsOn: readonly ServiceDependency[]
  /** Namespaces of other services: `container:<id>` of NetworkMode, IpcMode and PidMode. */
  readonly joins?: { readonly network?: string; readonly ipc?: string; readonly pid?: string }
  /** Each numbered container joins the network namespace of the one of its number, not of the first. */
  readonly joinsByNumber?: boolean
  /** Each becomes, in the Links of every endpoint and for each container of that service, `<container>:<alias>`, `<container>:<service>-<number>` and `<container>:<container>`. */
  readonly links?: readonly { readonly service: string; readonly alias: string }[]
  /** Each becomes an entry of VolumesFrom. */
  readonly volumesFrom?: readonly { readonly service: string; readonly readOnly: boolean }[]
  /** Put into the container between create and start. */
  readonly files?: readonly FilePlan[]
  readonly hooks?: { readonly postStart: readonly HookPlan[]; readonly preStop: readonly HookPlan[] }
}

/** Keys as the Engine's EndpointSettings names them. */
export interface EndpointPlan {
  readonly Aliases: readonly string[]
  readonly MacAddress?: string
  readonly DriverOpts?: Readonly<Record<string, string>>
  /** Engine 28 and newer. */
  readonly GwPriority?: number
  readonly IPAMConfig?: { readonly LinkLocalIPs: readonly string[] }
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
  /** belljar's own program for what a sandbox with an allow-list may reach. */
  | { readonly kind: 'egress' }

export type PullPolicy = 'missing' | 'never' | 'always'

export interface BuildPlan {
  /** Absolute host folder, or a remote address where that is allowed. */
  readonly context: string
  /** Relative to the context unless absolute. */
  readonly dockerfile: string
  /** The Dockerfile's text, in place of a file. */
  readonly dockerfileInline?: string
  readonly args: Readonly<Record<string, string>>
  readonly target?: string
  readonly platform?: string
  /** Keys as the Engine's build call names them: labels, nocache, pull, extrahosts, shmsize, networkmode, cachefrom. */
  readonly options?: Readonly<Record<string, unknown>>
  /** What the Engine's build call cannot carry: only `docker buildx build` can. */
  readonly buildx?: BuildxPlan
}

export interface BuildxPlan {
  readonly secrets: readonly { readonly id: string; readonly file?: string; readonly value?: string }[]
  readonly ssh: readonly string[]
  /** Absolute folder, `docker-image://...`, or `service:NAME` for the image of a service of the plan. */
  readonly contexts: Readonly<Record<string, string>>
  readonly ulimits: readonly string[]
  readonly allow: readonly string[]
  readonly cacheTo: readonly string[]
  readonly provenance?: string
  readonly sbom?: string
}

/** Keys as the Engine's create call names them. */
export interface ContainerPlan {
  /** undefined: the image's own; empty: none, which clears the image's. Set, it also drops the image's command. */
  readonly entrypoint?: readonly string[]
  /** undefined: the image's own; null: whatever keeps the container alive; empty: none. */
  readonly command?: readonly string[] | null
  /** `KEY=value`; `KEY` alone drops the image's value. */
  readonly env: readonly string[]
  readonly user?: string
  readonly workdir?: string
  readonly hostConfig: Readonly<Record<string, unknown>>
  /** Further keys of the body: Hostname, Tty, ExposedPorts, Labels, Healthcheck (durations in nanoseconds), StopTimeout... */
  readonly extra: Readonly<Record<string, unknown>>
  /** belljar's own, beside the services: nobody acts in it, and no guest comes in. */
  readonly helper?: boolean
  /** The capabilities that the container has are for belljar's own program; its commands get none. */
  readonly strict?: boolean
}

/** A secret or configuration whose content is not a file of the host. */
export interface FilePlan {
  readonly path: string
  readonly content: string
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

/** A command in the running container. */
export interface HookPlan {
  readonly command: readonly string[]
  readonly env: readonly string[]
  readonly user?: string
  readonly workdir?: string
  readonly privileged: boolean
}

/** The Engine's network body, less name, labels of belljar's and subnets. */
export interface NetworkPlan {
  readonly name: string
  readonly internal: boolean
  readonly driver?: string
  readonly options?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly attachable?: boolean
  readonly ipv4?: boolean
  readonly ipv6?: boolean
  /** One for all sandboxes of a run, in place of one for each. */
  readonly perRun?: boolean
}

export interface VolumePlan {
  readonly name: string
  /** Name of a volume that exists and is used as it is: shared by all copies, never removed. */
  readonly external?: string
  readonly driver?: string
  readonly options?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
}
