import type Docker from 'dockerode'
import type { Engine } from '../engine/engine.ts'

/** A container that was created for a service of a sandbox. */
export class ContainerRef {
  readonly engine: Engine
  readonly id: string
  readonly name: string
  readonly service: string

  constructor(engine: Engine, data: { id: string; name: string; service: string }) {
    this.engine = engine
    this.id = data.id
    this.name = data.name
    this.service = data.service
  }

  /** For short calls. */
  get control(): Docker.Container {
    return this.engine.control.getContainer(this.id)
  }

  /** For calls whose body is a stream. */
  get streams(): Docker.Container {
    return this.engine.streams.getContainer(this.id)
  }
}
