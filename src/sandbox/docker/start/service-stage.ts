import type { ServiceContainer } from '../container/start-service.ts'
import { type Deferred, deferred } from '../engine/deferred.ts'
import type { ServiceSandbox } from '../guest/service-sandbox.ts'

/** How far one service has come; whoever depends on it waits for one of these. */
export class ServiceStage {
  readonly created: Deferred<readonly ServiceContainer[]> = deferred()
  readonly started: Deferred<void> = deferred()
  readonly healthy: Deferred<void> = deferred()
  readonly completed: Deferred<void> = deferred()
  containers: readonly ServiceContainer[] = []
  /** Of each container, once it has been started. */
  sandboxes: readonly ServiceSandbox[] = []

  /** What has not come to pass never will. */
  fail(error: unknown): void {
    for (const stage of [this.created, this.started, this.healthy, this.completed]) stage.reject(error)
  }
}
