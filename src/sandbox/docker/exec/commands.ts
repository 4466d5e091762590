import type { SandboxUnavailableError } from '../../../errors.ts'
import type { Command } from './command.ts'

/** The commands of one service that are running now. */
export class Commands {
  readonly #running = new Map<Command, Promise<unknown>>()

  async track<T>(command: Command, run: () => Promise<T>): Promise<T> {
    const running = run()
    this.#running.set(command, running)
    try {
      return await running
    } finally {
      this.#running.delete(command)
    }
  }

  /** Lets all of them fail at once, and kills their trees when the container goes on. */
  abandonAll(error: SandboxUnavailableError, goesOn: Promise<void>): void {
    for (const command of this.#running.keys()) command.abandon(error, goesOn)
  }

  /** Kills all of them with their trees and waits until that is done. Returns their argv. */
  async stopAll(reason: unknown): Promise<(readonly string[])[]> {
    const stopped = [...this.#running]
    for (const [command] of stopped) command.stop(reason)
    await Promise.allSettled(stopped.map(([, running]) => running))
    return stopped.map(([command]) => command.argv)
  }
}
