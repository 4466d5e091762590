import { errorMessage } from '../errors.ts'
import type { SandboxIdentity, SandboxSelector } from '../sample/identity.ts'
import type { LeftObject, RemovalReport, SandboxProvider } from './provider.ts'

type Remover = Pick<SandboxProvider, 'remove'>

/** Something of a sandbox may exist from `register` until a removal found nothing left of it. */
export interface CleanupEntry {
  /** Attempts the removal; calls while one is under way share it. */
  remove(): Promise<RemovalReport>
  /** Everything of it was seen to be gone. */
  done(): void
}

/** What must be removed before a run may end. Registered before it is created. */
export class CleanupRegistry {
  readonly #entries = new Map<CleanupEntry, SandboxIdentity>()
  readonly #left = new Map<CleanupEntry | 'run', readonly LeftObject[]>()

  get size(): number {
    return this.#entries.size
  }

  register(provider: Remover, identity: SandboxIdentity): CleanupEntry {
    let underWay: Promise<RemovalReport> | undefined
    const entry: CleanupEntry = {
      remove: () => {
        underWay ??= this.#remove(provider, identity, entry).finally(() => {
          underWay = undefined
        })
        return underWay
      },
      done: () => {
        this.#entries.delete(entry)
        this.#left.delete(entry)
      },
    }
    this.#entries.set(entry, identity)
    return entry
  }

  /** Attempts every removal that is due, however others fare, and returns what is left of all of them. */
  async removeAll(): Promise<readonly LeftObject[]> {
    await Promise.all([...this.#entries.keys()].map((entry) => entry.remove()))
    return this.left
  }

  /** What would be left if nothing more were removed from now on. */
  get pending(): readonly LeftObject[] {
    const unknown = [...this.#entries].filter(([entry]) => !this.#left.has(entry))
    return [...this.left, ...unknown.map(([, identity]) => pendingSandbox(identity))]
  }

  /** What the last removals found that would not go. */
  get left(): readonly LeftObject[] {
    const objects = [...this.#left.values()].flat()
    return [...new Map(objects.map((object) => [`${object.kind} ${object.name}`, object])).values()]
  }

  async #remove(provider: Remover, identity: SandboxIdentity, entry: CleanupEntry): Promise<RemovalReport> {
    const report = await attempt(provider, identity)
    if (report.left.length > 0) this.#left.set(entry, report.left)
    else entry.done()
    return report
  }

  /** Takes over the result of a later look at the same objects. */
  settle(report: RemovalReport): void {
    this.#entries.clear()
    this.#left.clear()
    this.#left.set('run', report.left)
  }
}

function pendingSandbox({ run, task, sample, epoch }: SandboxIdentity): LeftObject {
  return {
    kind: 'container',
    name: `sandbox of ${task}, sample ${sample} (epoch ${epoch})`,
    reason: 'its removal has not ended',
    command: `belljar sandbox cleanup ${run}`,
  }
}

/** A removal that throws is a removal that left something: nothing may be taken for gone because the look at it failed. */
export async function attempt(provider: Remover, selector: SandboxSelector): Promise<RemovalReport> {
  try {
    return await provider.remove(selector)
  } catch (error) {
    const name = `whatever is labelled belljar.run=${selector.run}`
    const command = `docker rm -fv $(docker ps -aq --filter label=belljar.run=${selector.run})`
    return { removed: 0, left: [{ kind: 'container', name, reason: errorMessage(error), command }] }
  }
}
