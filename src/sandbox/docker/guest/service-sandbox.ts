import type { StopOptions } from '../../provider.ts'
import type { Sandbox } from '../../sandbox.ts'
import type { ContainerRef } from '../container/container-ref.ts'

/** One running service of a sandbox, over whichever transport. */
export interface ServiceSandbox extends Sandbox {
  readonly container: ContainerRef
  /** Kills the commands in flight with their trees, and what others left behind where that is asked for. Returns their argv. */
  stopCommands(reason: unknown, options?: StopOptions): Promise<readonly (readonly string[])[]>
  /** Names of what commands that have ended left running, where that can be told. */
  leftRunning?(): Promise<readonly string[]>
  /** Lets the container live on without this process; not where its life is its own anyway. */
  keep?(): Promise<void>
  /** Closes what holds the container open. Resolves to true when it is gone with that. */
  end?(): Promise<boolean>
}

/** What a person types to get a shell in a container. It uses exec: a second attach would end a guest. */
export function shellCommandOf({ engine, name }: ContainerRef): string {
  const { endpoint } = engine
  const host = endpoint.description.startsWith('default') ? '' : `-H ${endpoint.url} `
  return `docker ${host}exec -it ${name} sh`
}
