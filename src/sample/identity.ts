/** Names one attempt at one sample of one eval of one run: what labels, names and records are made of. */
export interface SandboxIdentity {
  readonly run: string
  readonly eval: string
  readonly task: string
  readonly sample: string
  readonly epoch: number
  readonly attempt: number
  /** The sandbox in which the scorers act, where it is not that of the agent. */
  readonly part?: 'verifier'
}

/** All objects of a run, or, with more fields, of a part of it. */
export type SandboxSelector = Pick<SandboxIdentity, 'run'> & Partial<SandboxIdentity>
