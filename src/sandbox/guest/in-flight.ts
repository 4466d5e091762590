import { linkedController } from '../../util/linked-controller.ts'
import type { SandboxProcess } from '../sandbox.ts'

interface Running {
  readonly argv: readonly string[]
  stop(reason: unknown): void
  readonly ended: Promise<unknown>
}

/** The commands that were asked for and have not ended. What a command left running on purpose is none of them. */
export class InFlight {
  readonly #running = new Set<Running>()

  async exec<T>(
    argv: readonly string[],
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    using linked = linkedController(signal)
    const ended = run(linked.signal)
    const running = { argv, stop: (reason: unknown) => linked.abort(reason), ended }
    this.#running.add(running)
    try {
      return await ended
    } finally {
      this.#running.delete(running)
    }
  }

  async spawn(argv: readonly string[], start: () => Promise<SandboxProcess>): Promise<SandboxProcess> {
    const started = start()
    const ended = started.then((process) => process.wait())
    const stop = () => void started.then((process) => process.kill()).catch(() => undefined)
    const running = { argv, stop, ended }
    this.#running.add(running)
    const forget = () => void this.#running.delete(running)
    ended.then(forget, forget)
    return started
  }

  /** Kills all of them with their trees and waits until that is done. Returns their argv. */
  async stopAll(reason: unknown): Promise<(readonly string[])[]> {
    const stopped = [...this.#running]
    for (const running of stopped) running.stop(reason)
    await Promise.allSettled(stopped.map(({ ended }) => ended))
    return stopped.map(({ argv }) => argv)
  }
}
