import type Docker from 'dockerode'

/** Two ways to one Docker engine: `control` for short calls, `streams` for long ones, so that neither starves the other. */
export interface EngineClients {
  readonly control: Docker
  readonly streams: Docker
}
