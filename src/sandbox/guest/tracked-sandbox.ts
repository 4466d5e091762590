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

  /** Kills them with their trees. Returns their argv. */
  stopCommands(reason: unknown): Promise<readonly (readonly string[])[]> {
    return this.#inFlight.stopAll(reason)
  }
}
