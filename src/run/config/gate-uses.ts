import type { SandboxManager } from '../../sandbox/sandbox-manager.ts'
import type { Gate } from './config-gate.ts'

/** What a task still means to run in each configuration, so that each can be cleaned up after its last use. */
export class GateUses {
  readonly #manager: Pick<SandboxManager, 'retain'>
  /** More samples may come at any time: everything is held to the end. */
  readonly #openEnded: boolean
  readonly #runs = new Map<Gate, number>()
  readonly #held = new Map<Gate, () => void>()
  #closed = false

  constructor(manager: Pick<SandboxManager, 'retain'>, openEnded: boolean) {
    this.#manager = manager
    this.#openEnded = openEnded
  }

  planned(gate: Gate, runs: number): void {
    const known = this.#runs.get(gate)
    this.#runs.set(gate, (known ?? 0) + runs)
    if (known === undefined) void gate.settled.then(() => this.#hold(gate))
  }

  /** One that is run again after it had ended does not count: its configuration is made ready anew where need be. */
  ended(gate: Gate): void {
    const runs = (this.#runs.get(gate) ?? 0) - 1
    if (runs < 0) return
    this.#runs.set(gate, runs)
    if (runs === 0 && !this.#openEnded) this.#release(gate)
  }

  /** Nothing of the task will run any more. */
  close(): void {
    this.#closed = true
    for (const gate of this.#held.keys()) this.#release(gate)
  }

  #hold(gate: Gate): void {
    const isOver = this.#runs.get(gate) === 0 && !this.#openEnded
    if ((!gate.sandbox && !gate.verifier) || this.#closed || isOver || this.#held.has(gate)) return
    const used = [gate.sandbox, gate.verifier].flatMap((sandbox) => sandbox ?? [])
    const releases = used.map(({ provider, initialised }) =>
      this.#manager.retain(provider, initialised.config),
    )
    this.#held.set(gate, () => {
      for (const release of releases) release()
    })
  }

  #release(gate: Gate): void {
    this.#held.get(gate)?.()
    this.#held.delete(gate)
  }
}
