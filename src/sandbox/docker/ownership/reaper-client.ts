import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { packageRoot } from '../../guest/binary.ts'
import { type Engine, negotiatedVersion } from '../engine/engine.ts'
import type { ObjectKind, ReaperEngine, ReaperMessage } from './reaper/messages.ts'

export interface ReaperOptions {
  readonly run: string
  readonly warn: (message: string) => void
}

const COVERED_BY_SWEEP = 'if this run is killed, the next run on the engine removes what it leaves'
/** It only waits and sends a few requests: a small heap is enough. */
const NODE_FLAGS = ['--max-old-space-size=32', '--max-semi-space-size=1', '--v8-pool-size=1']

/** The run's side of its reaper: a detached process that removes what is left when this one dies. */
export class ReaperClient {
  readonly #warn: (message: string) => void
  readonly #run: string
  #child: ChildProcess | undefined
  readonly #engines = new Set<string>()
  #number = 0

  constructor({ run, warn }: ReaperOptions) {
    this.#run = run
    this.#warn = warn
  }

  /** Of the process; undefined when there is none. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** To be told before anything is made there; starts the process with the first engine. */
  addEngine(engine: Engine): void {
    if (this.#engines.size === 0) this.#start()
    this.#engines.add(engine.endpoint.url)
    this.#tell({ type: 'engine', engine: reaperEngine(engine) })
  }

  /** Says what is about to be created; the function it returns says that the call was answered. */
  creating(engine: Engine, kind: ObjectKind, name: string): () => void {
    this.#number += 1
    const number = this.#number
    this.#tell({ type: 'creating', engine: engine.endpoint.url, number, kind, name })
    return () => this.#tell({ type: 'created', number })
  }

  keep(project: string): void {
    this.#tell({ type: 'keep', project })
  }

  /** As if this process had died: all that carries the run's label goes. */
  takeOver(): void {
    const child = this.#child
    this.#child = undefined
    child?.stdin?.end()
  }

  /** The run has removed, or given up on, all that it had there. With its last engine the process ends. */
  removeEngine(engine: Engine): void {
    if (!this.#engines.delete(engine.endpoint.url)) return
    if (this.#engines.size > 0) {
      this.#tell({ type: 'engine-done', id: engine.endpoint.url })
      return
    }
    this.#tell({ type: 'leave' })
    const child = this.#child
    this.#child = undefined
    child?.stdin?.end()
  }

  #start(): void {
    const path = join(packageRoot(), 'dist', 'reaper.js')
    if (!existsSync(path)) {
      this.#warn(`no reaper: ${path} is not built; ${COVERED_BY_SWEEP}`)
      return
    }
    const child = spawn(process.execPath, [...NODE_FLAGS, path], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { UV_THREADPOOL_SIZE: '1' },
    })
    this.#child = child
    child.on('error', (error) => this.#gone(child, error.message))
    child.on('exit', (code, signal) => this.#gone(child, `it ended (${signal ?? code})`))
    child.stdin?.on('error', () => undefined)
    child.unref()
    ;(child.stdin as Socket | null)?.unref()
    this.#tell({ type: 'run', run: this.#run })
  }

  #gone(child: ChildProcess, why: string): void {
    if (this.#child !== child) return
    this.#child = undefined
    this.#warn(`no reaper: ${why}; ${COVERED_BY_SWEEP}`)
  }

  #tell(message: ReaperMessage): void {
    this.#child?.stdin?.write(`${JSON.stringify(message)}\n`)
  }
}

function reaperEngine({ endpoint, facts }: Engine): ReaperEngine {
  const { url: id, address, tls } = endpoint
  const secrets =
    tls && Object.fromEntries(Object.entries(tls).map(([name, bytes]) => [name, bytes.toString('base64')]))
  return { id, address, apiVersion: negotiatedVersion(facts), ...(secrets && { tls: secrets }) }
}
