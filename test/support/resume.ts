import { copyFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FakeProvider } from 'belljar/testing'
import { toJournalLine } from '../../src/log/journal/journal-line.ts'
import { journalPathOf } from '../../src/log/log-paths.ts'
import type { HeaderRecord, LogRecord, SampleRecord } from '../../src/log/records/records.ts'
import { evaluate, type RunResult } from '../../src/run/evaluate.ts'
import type { EvaluateOptions } from '../../src/run/options.ts'
import type { RunEvent } from '../../src/run/run-event.ts'
import type { LoadedTask } from '../../src/task/load-tasks.ts'
import type { Task } from '../../src/task/task.ts'
import { recordsOf } from './log-records.ts'
import { tempDir } from './temp-dir.ts'

export interface Attempt {
  readonly result: RunResult
  readonly log: string
  readonly records: readonly LogRecord[]
  readonly samples: readonly SampleRecord[]
  readonly header: HeaderRecord
  readonly events: readonly RunEvent[]
  readonly warnings: readonly string[]
  readonly provider: FakeProvider
}

/** A folder of logs, and runs that go on from each other in it. */
export class ResumeFolder implements AsyncDisposable {
  readonly #folder: AsyncDisposable & { path: string }

  private constructor(folder: AsyncDisposable & { path: string }) {
    this.#folder = folder
  }

  static async make(): Promise<ResumeFolder> {
    return new ResumeFolder(await tempDir())
  }

  get path(): string {
    return this.#folder.path
  }

  async run(
    task: Task | LoadedTask,
    options: EvaluateOptions & { provider?: FakeProvider } = {},
  ): Promise<Attempt> {
    const { provider = new FakeProvider(), onEvent, ...rest } = options
    const events: RunEvent[] = []
    const result = await evaluate([task], {
      logDir: this.path,
      providers: { fake: async () => provider },
      ...rest,
      onEvent: (event) => {
        events.push(event)
        onEvent?.(event)
      },
    })
    const { log } = result.evals[0]!
    const records = await recordsOf(log)
    const warnings = events.flatMap((event) =>
      event.type === 'note' && event.level === 'warning' ? [event.message] : [],
    )
    const samples = records.flatMap((record) => (record.type === 'sample' ? [record] : []))
    return { result, log, records, samples, header: records[0] as HeaderRecord, events, warnings, provider }
  }

  async files(): Promise<string[]> {
    return (await readdir(this.path)).sort()
  }

  /** A journal of the records of a log, as a killed run leaves it: without its end. */
  async journalOf(
    records: readonly LogRecord[],
    change = (record: LogRecord): LogRecord | undefined => record,
  ) {
    const path = join(this.path, `killed-${Math.random().toString(36).slice(2)}.journal.jsonl`)
    const kept = records.flatMap((record) => (record.type === 'footer' ? [] : (change(record) ?? [])))
    await writeFile(path, Buffer.concat(kept.map((record) => toJournalLine(record))))
    return path
  }

  /** The journal as a run leaves it that is killed when so many samples have ended. */
  async killedAfter(task: Task | LoadedTask, ended: number): Promise<string> {
    const path = join(this.path, `killed-${Math.random().toString(36).slice(2)}.journal.jsonl`)
    let left = ended
    let log = ''
    await this.run(task, {
      onEvent: (event) => {
        if (event.type === 'eval-start') log = event.log
        if (event.type === 'sample-end' && --left === 0) copyFileSync(journalPathOf(log), path)
      },
    })
    return path
  }

  text(path: string): Promise<string> {
    return readFile(path, 'latin1')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]()
  }
}

/** An agent that says what it was asked, counts how often, and fails where it is told to. */
export function countingAgent(fails: (id: string, time: number) => boolean = () => false) {
  const calls: string[] = []
  const agent = async ({ sample: { id } }: { sample: { id?: string | number } }) => {
    const name = String(id)
    calls.push(name)
    if (fails(name, calls.filter((call) => call === name).length)) throw new Error(`${name} broke`)
    return name
  }
  return { agent, calls }
}
