import type { Readable } from 'node:stream'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { OWNER_LABEL } from '../identity/labels.ts'
import { owner } from '../identity/owner.ts'
import { ContainerWatch } from './container-watch.ts'

const TYPES: ['container'] = ['container']
const ACTIONS = ['die', 'oom', 'destroy', 'pause', 'unpause']
const RECONCILE_MS = 30_000
const LONGEST_PAUSE_MS = 5000

interface EngineEvent {
  readonly Action?: string
  readonly Actor?: { readonly ID?: string; readonly Attributes?: Readonly<Record<string, string>> }
}

/** One stream of the Engine's events for all containers of this process. Events get lost, so a list is looked at now and then, and after each reconnection. */
export class EngineWatch {
  readonly #engine: Engine
  readonly #watched = new Map<string, ContainerWatch>()
  #opening: Promise<void> | undefined
  #stream: Readable | undefined
  #reconciling: NodeJS.Timeout | undefined
  #closed = false

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Resolves when events of containers that start from now on will be seen. @throws EngineError */
  open(): Promise<void> {
    if (!this.#opening) {
      const opening = this.#connect()
      this.#opening = opening
      opening.catch(() => {
        if (this.#opening === opening) this.#opening = undefined
      })
    }
    return this.#opening
  }

  watch(id: string): ContainerWatch {
    const watch = new ContainerWatch(id)
    this.#watched.set(id, watch)
    void watch.removed.then(() => this.#watched.delete(id))
    return watch
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#reconciling)
    this.#stream?.destroy()
  }

  async #connect(): Promise<void> {
    const filters = { type: TYPES, event: ACTIONS, label: [`${OWNER_LABEL}=${owner()}`] }
    const stream = await call('watching events', {}, () => this.#engine.streams.getEvents({ filters }))
    this.#stream = stream as unknown as Readable
    if (this.#closed) return void this.#stream.destroy()
    let rest = ''
    this.#stream.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#take(line)
    })
    this.#stream.on('error', () => undefined)
    this.#stream.once('close', () => void this.#reconnect())
    this.#reconciling ??= setInterval(
      () => void this.#reconcile().catch(() => undefined),
      RECONCILE_MS,
    ).unref()
  }

  #take(line: string): void {
    let event: EngineEvent
    try {
      event = JSON.parse(line)
    } catch {
      return
    }
    const exitCode = event.Actor?.Attributes?.exitCode
    const watch = this.#watched.get(event.Actor?.ID ?? '')
    watch?.take(event.Action ?? '', exitCode === undefined ? undefined : Number(exitCode))
  }

  async #reconnect(): Promise<void> {
    this.#opening = undefined
    for (let pauseMs = 50; !this.#closed; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        await this.open()
        return await this.#reconcile()
      } catch {
        await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
      }
    }
  }

  async #reconcile(): Promise<void> {
    if (this.#watched.size === 0) return
    const watched = [...this.#watched.values()]
    const filters = { label: [`${OWNER_LABEL}=${owner()}`] }
    const list = await call('listing containers', { deadlineMs: 20_000 }, (abortSignal) =>
      this.#engine.control.listContainers({ all: true, filters, abortSignal }),
    )
    const states = new Map(list.map(({ Id, State }) => [Id, State]))
    for (const watch of watched) {
      const state = states.get(watch.id)
      if (state === undefined) watch.take('destroy')
      else if (state === 'exited' || state === 'dead') watch.takeWait(undefined, false)
      else watch.take(state === 'paused' ? 'pause' : 'unpause')
    }
  }
}
