import { randomUUID } from 'node:crypto'
import type { AgentState } from '../../agent/agent.ts'
import { ModelRecorder } from '../../agent/model-recorder.ts'
import { currentSpan } from '../../agent/span.ts'
import type { Transcript, TranscriptEvent } from '../../agent/transcript.ts'
import { type LimitExceededError, SandboxUnavailableError } from '../../errors.ts'
import { WorkClock } from '../../limit/work-clock.ts'
import type { ArtifactRecord } from '../../log/records/artifact-record.ts'
import { errorRecord } from '../../log/records/error-record.ts'
import type { ErrorRecord, EventRecord, SampleRecord, SampleStartRecord } from '../../log/records/records.ts'
import type { Content } from '../../sample/content.ts'
import { shownInput } from '../../sample/input.ts'
import type { Score } from '../../score/scorer.ts'
import { stopwatch } from '../../util/clock.ts'
import { VERSION } from '../../util/version.ts'
import type { Gate, GateSandbox } from '../config/config-gate.ts'
import type { PlannedRun } from '../dispatch/planned-sample.ts'
import type { Phase } from '../run-event.ts'
import { UsageCount } from './usage-count.ts'

/** What belongs to one attempt at one epoch of a sample while it lives, and becomes its record. */
export class SampleLife implements Transcript {
  readonly uuid = randomUUID()
  readonly run: PlannedRun
  readonly state: AgentState
  /** The input, from before the agent on with its media at hand. */
  content: Content
  readonly scores: Record<string, Score> = {}
  /** What was taken out of the sandbox, once that has been tried. */
  artifacts: ArtifactRecord[] | undefined
  readonly clock = new WorkClock()
  readonly recorder = new ModelRecorder(this)
  readonly #time = stopwatch()
  readonly #phases: { name: Phase; startedMs: number; durationMs: number }[] = []
  readonly #used = new UsageCount()
  readonly #log: (record: EventRecord | SampleStartRecord) => void
  #status: SampleRecord['status'] = 'success'
  #error: ErrorRecord | undefined
  #limit: SampleRecord['limit']

  constructor(run: PlannedRun, log: (record: EventRecord | SampleStartRecord) => void) {
    this.run = run
    this.state = { messages: [], output: '' }
    this.#log = log
    const { id, sample } = run.planned
    this.content = shownInput(sample.input)
    log({
      type: 'sample-start',
      uuid: this.uuid,
      id,
      epoch: run.epoch,
      startedAt: new Date(this.#time().startedMs).toISOString(),
      input: shownInput(sample.input),
      target: sample.target as string | string[] | undefined,
    })
  }

  get failed(): boolean {
    return this.#status === 'error' || this.#status === 'cancelled'
  }

  get error(): ErrorRecord | undefined {
    return this.#error
  }

  record(event: TranscriptEvent): void {
    if (event.type === 'model-output') this.#used.add(event)
    const span = currentSpan()
    this.#log({ type: 'event', uuid: this.uuid, event: span === undefined ? event : { ...event, span } })
  }

  /** A phase has ended. */
  spent(name: Phase, { startedMs, durationMs }: { startedMs: number; durationMs: number }): void {
    this.#phases.push({ name, startedMs, durationMs })
  }

  /** The first cause stands. */
  fail(kind: ErrorRecord['kind'], error: unknown): void {
    if (this.failed) return
    this.#status = 'error'
    this.#error = errorRecord(error instanceof SandboxUnavailableError ? 'sandbox' : kind, error)
  }

  cancel(): void {
    if (!this.failed) this.#status = 'cancelled'
  }

  reachLimit(error: LimitExceededError): void {
    if (this.failed) return
    this.#status = 'limit'
    this.#limit = { type: error.type, limit: error.limit }
  }

  finish({ sandbox, verifier }: Pick<Gate, 'sandbox' | 'verifier'>): SampleRecord {
    const { planned, epoch } = this.run
    const { sample } = planned
    const { startedMs, durationMs } = this.#time()
    return {
      type: 'sample',
      uuid: this.uuid,
      belljar: VERSION,
      id: planned.id,
      epoch,
      attempt: this.run.attempt,
      earlier: this.run.earlier.length > 0 ? this.run.earlier : undefined,
      supersedes: this.run.superseded?.uuid,
      status: this.#status,
      input: shownInput(sample.input),
      inputParts: typeof this.content === 'string' ? undefined : [...this.content],
      target: sample.target as string | string[] | undefined,
      choices: sample.choices as string[] | undefined,
      metadata: { ...sample.metadata },
      files: sample.files && Object.keys(sample.files),
      setup: sample.setup,
      sandbox: sandbox && sandboxRecord(sandbox),
      verifier: verifier && sandboxRecord(verifier),
      artifacts: this.artifacts,
      messages: this.state.messages,
      output: this.state.output,
      scores: this.scores,
      error: this.#error,
      limit: this.#limit,
      startedAt: new Date(startedMs).toISOString(),
      completedAt: new Date(startedMs + durationMs).toISOString(),
      totalMs: durationMs,
      workingMs: this.#working(),
      phases: this.#phases,
      usage: this.#used.usage,
      roleUsage: Object.keys(this.#used.roleUsage).length > 0 ? this.#used.roleUsage : undefined,
    }
  }

  #working(): number {
    const working = this.#phases.filter(({ name }) => name !== 'wait' && name !== 'start')
    const spentMs = working.reduce((sum, { durationMs }) => sum + durationMs, 0)
    return Math.max(0, spentMs - this.clock.waitedMs)
  }
}

function sandboxRecord({ initialised: { config, facts } }: GateSandbox): SampleRecord['sandbox'] {
  return { kind: config.kind, key: config.key, images: { ...facts.images } }
}
