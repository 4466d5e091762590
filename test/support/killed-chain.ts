import { type ChildProcess, spawn } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { listLogs } from '../../src/log/read/list-logs.ts'
import type { SampleRecord } from '../../src/log/records/records.ts'
import { recordsOf } from './log-records.ts'
import { tempDir } from './temp-dir.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** From a seed, the same numbers from 0 up to 1 every time (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** When a process is killed: so long after it was started, or after it began to run samples. */
export interface KillPoint {
  readonly after: 'start' | 'first-event'
  readonly ms: number
}

const keyOf = ({ id, epoch }: { id: string | number; epoch: number }) => `${id} ${epoch}`

/** Arguments of the command line that runs it, or goes on from its newest log. */
export type KilledCommand = (log: string | undefined) => readonly string[]

const RUN_AND_RETRY: KilledCommand = (log) => (log === undefined ? ['run', 'task.ts'] : ['retry', log])

/** One eval that is killed again and again, each time gone on from, and what must hold after each kill. */
export class KilledChain implements AsyncDisposable {
  readonly #folder: AsyncDisposable & { path: string }
  /** uuid of the first record of each sample and epoch that was in a log as done. */
  readonly #done = new Map<string, string>()
  readonly #command: KilledCommand
  #callsSeen = 0

  private constructor(folder: AsyncDisposable & { path: string }, command: KilledCommand) {
    this.#folder = folder
    this.#command = command
  }

  static async begin(task: string, command = RUN_AND_RETRY): Promise<KilledChain> {
    const folder = await tempDir()
    await writeFile(join(folder.path, 'task.ts'), task)
    return new KilledChain(folder, command)
  }

  /** Runs or resumes it. Returns whether the process was killed before it ended by itself, with success. */
  async step({ after, ms }: KillPoint | { after: 'never'; ms: 0 }): Promise<boolean> {
    const log = await this.newestLog()
    const child = spawn(process.execPath, [MAIN, ...this.#command(log), '--log-dir', 'logs', '--json'], {
      cwd: this.#folder.path,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))
    const timer = killAt(child, after === 'never' ? undefined : { after, ms })
    const code = await Promise.race([ended, hung(child)])
    timer.stop()
    if (code === 'hung') throw new Error(`belljar did not end, in ${this.#folder.path}:\n${stderr}`)
    if (code !== null && code > 1) throw new Error(`belljar ended with ${code}:\n${stderr}`)
    await this.#check()
    return code === null
  }

  /** The one that goes on from most others. */
  async newestLog(): Promise<string | undefined> {
    const logs = (await listLogs(join(this.#folder.path, 'logs')).catch(() => [])).filter(
      ({ header }) => header,
    )
    logs.sort((one, other) => (one.header?.lineage?.length ?? 0) - (other.header?.lineage?.length ?? 0))
    return logs.at(-1)?.path
  }

  /** Names of all logs in the folder. */
  async logs(): Promise<string[]> {
    return (await readdir(join(this.#folder.path, 'logs'))).filter((name) => !name.startsWith('belljar-set'))
  }

  async samples(): Promise<SampleRecord[]> {
    const records = await recordsOf((await this.newestLog()) ?? '')
    return records.flatMap((record) => (record.type === 'sample' ? [record] : []))
  }

  async calls(): Promise<string[]> {
    const text = await readFile(join(this.#folder.path, 'calls'), 'utf8').catch(() => '')
    return text.split('\n').filter((line) => line !== '')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]()
  }

  /** Whatever was in a log as done was not run again since, and is in the newest log as it was. */
  async #check(): Promise<void> {
    const calls = await this.calls()
    const again = calls.slice(this.#callsSeen).filter((call) => this.#done.has(call))
    expect(again, 'samples that ran again though they were done').toEqual([])
    this.#callsSeen = calls.length
    if ((await this.newestLog()) === undefined) return
    const current = new Map((await this.samples()).map((record) => [keyOf(record), record]))
    const lost = [...this.#done].filter(([key, uuid]) => current.get(key)?.uuid !== uuid)
    expect(lost, 'samples that were done and are not in the newest log').toEqual([])
    for (const [key, { status, uuid }] of current) if (status === 'success') this.#done.set(key, uuid)
  }
}

/** A run of these tests takes seconds: one that does not end within this time hangs. */
const HUNG_MS = 90_000

function hung(child: ChildProcess): Promise<'hung'> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      resolve('hung')
    }, HUNG_MS)
    child.once('close', () => clearTimeout(timer))
  })
}

function killAt(child: ChildProcess, point: KillPoint | undefined): { stop: () => void } {
  let timer: NodeJS.Timeout | undefined
  const arm = () => {
    timer ??= setTimeout(() => child.kill('SIGKILL'), point?.ms)
  }
  if (point?.after === 'start') arm()
  child.stdout?.on('data', () => {
    if (point?.after === 'first-event') arm()
  })
  return { stop: () => clearTimeout(timer) }
}
