import type { StopOptions } from '../provider.ts'
import type { ExecResult, SandboxProcess } from '../sandbox.ts'
import type { GuestExecOptions } from './exec.ts'
import { GuestSandbox } from './guest-sandbox.ts'
import { InFlight } from './in-flight.ts'
import type { GuestSpawnOptions } from './process.ts'

/** A service behind a guest whose commands in flight can be stopped all at once. */
export class TrackedGuestSandbox extends GuestSandbox {
  readonly #inFlight = new InFlight()

  override exec(command: readonly string[], options: GuestExecOptions = {}): Promise<ExecResult> {
    return this.#inFlight.exec(command, options.signal, (signal) =>
      super.exec(command, { ...options, signal }),
    )
  }

  override spawn(command: readonly string[], options: GuestSpawnOptions = {}): Promise<SandboxProcess> {
    return this.#inFlight.spawn(command, () => super.spawn(command, options))
  }

  /** Kills them with their trees, and what others left behind where that is asked for. Returns their argv. */
  async stopCommands(
    reason: unknown,
    { leftBehind = false }: StopOptions = {},
  ): Promise<readonly (readonly string[])[]> {
    const stopped = await this.#inFlight.stopAll(reason)
    return leftBehind ? [...stopped, ...(await this.killLeftBehind())] : stopped
  }
}
