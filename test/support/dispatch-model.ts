import { setMaxListeners } from 'node:events'
import type { Scheduler } from 'fast-check'
import { expect } from 'vitest'
import { errorRecord } from '../../src/log/records/error-record.ts'
import type { SampleRecord } from '../../src/log/records/records.ts'
import { EvalControl } from '../../src/run/control/eval-control.ts'
import { Dispatcher } from '../../src/run/dispatch/dispatcher.ts'
import type { PlannedRun, PlannedSample, RunOutcome } from '../../src/run/dispatch/planned-sample.ts'
import { type Addition, SamplePlanner } from '../../src/run/dispatch/sample-planner.ts'
import { Outcomes } from '../../src/run/outcomes.ts'
import { resolveTask } from '../../src/run/resolved-task.ts'
import type { Sample } from '../../src/sample/sample.ts'
import { taskFromCode } from '../../src/task/load-tasks.ts'
import { type FollowUps, SampleSource } from '../../src/task/sample-source.ts'
import { defineTask } from '../../src/task/task.ts'
import { attemptRecord, ended, modelGates, operate } from './dispatch-parts.ts'
import { type Act, PLAIN, type SamplePlan, type Scenario } from './dispatch-scenario.ts'
import { turn } from './drain.ts'

type Handle = Addition['handles'][number]
type Settled = { readonly handle: Handle; readonly result: PromiseSettledResult<SampleRecord[]> }

/** Plays a scenario on a dispatcher, its planner, gates, outcomes and control, checking at every step what must hold at that step. */
export class DispatchModel {
  readonly stop = new AbortController()
  readonly planned: PlannedSample[] = []
  readonly records: SampleRecord[] = []
  readonly started: string[] = []
  readonly told: string[] = []
  readonly abandoned: string[] = []
  readonly completions: Settled[] = []
  outcomes: Outcomes | undefined
  lastAnswer: unknown
  broken: unknown
  enqueued = 0
  requeued = 0
  /** Attempts that became no record: tried again, or halted. */
  unrecorded = 0
  settled = 0
  logFailed = false
  running = 0
  ceiling: number
  readonly #scheduler: Scheduler
  readonly #scenario: Scenario
  readonly #plans = new Map<unknown, SamplePlan>()
  readonly #answers: Scenario['answers'][number][]
  #dispatcher: Dispatcher | undefined
  #planner: SamplePlanner | undefined
  #control: EvalControl | undefined
  #telling = 0

  constructor(scheduler: Scheduler, scenario: Scenario) {
    this.#scheduler = scheduler
    this.#scenario = scenario
    this.#answers = [...scenario.answers]
    this.ceiling = scenario.maxSamples
    setMaxListeners(0, this.stop.signal)
  }

  get isAborted(): boolean {
    return this.stop.signal.aborted
  }

  /** An operator ended the task in order. */
  get isClosed(): boolean {
    return this.#control?.stopped !== undefined
  }

  resize(limit: number): void {
    if (!this.#dispatcher) return
    this.ceiling = Math.max(limit, this.running)
    this.#dispatcher.maxSamples = limit
  }

  act(act: Act): void {
    const live = [...(this.#dispatcher?.queue.live ?? [])]
    if (this.#control && operate(this.#control, act, { live, records: this.records })) this.requeued++
  }

  /** Lets everything that is held go on. */
  resumeAll(): boolean {
    return this.#control?.resume().changed ?? false
  }

  async run(): Promise<boolean> {
    const { epochs, maxSamples, prefetch, limit, failOnError } = this.#scenario
    const source = this.#source()
    const task = await resolveTask(
      taskFromCode(defineTask({ name: 'model', agent: 'nop', dataset: source, epochs, failOnError })),
      { limit },
    )
    this.#planner = new SamplePlanner(task, modelGates(this.#scheduler, this.stop.signal))
    const outcomes = new Outcomes(task)
    this.outcomes = outcomes
    const dispatcher = new Dispatcher({
      epochs,
      maxSamples,
      source,
      prefetch,
      sleep: () => turn(this.#scheduler, 'a pause ends'),
      signal: this.stop.signal,
      isSpent: () => task.selection.isSpent,
      run: (run) => this.#run(run),
      plan: (samples) => this.#followUps(samples),
      callbackFailed: (error) => this.stop.abort(error),
      keepState: () => undefined,
      abandoned: (run) => this.#abandoned(run, outcomes),
      fail: (error) => this.stop.abort(error),
      warn: () => undefined,
    })
    this.#dispatcher = dispatcher
    const cancel = () => this.stop.abort(new Error('cancelled'))
    this.#control = new EvalControl({ task: 'model', eval: 'e', dispatcher, outcomes, limits: {}, cancel })
    const seed = this.#planner.seed()
    this.#count(seed)
    dispatcher.addSeed(seed)
    return dispatcher.run()
  }

  /** Adds after the end, as a timer that an agent left behind would. */
  addLate(): void {
    this.#enqueue([this.#sampleOf(PLAIN)])
  }

  /** Aborts a few ticks after what the scenario names, in the midst of what others make of it. */
  #reach(event: 'told' | 'answered', count: number): void {
    const { abort } = this.#scenario
    if (abort?.at !== event || abort.count !== count) return
    void (async () => {
      for (let tick = 0; tick < abort.ticks; tick++) await undefined
      this.stop.abort(new Error('cancelled'))
    })()
  }

  #sampleOf(plan: SamplePlan): Sample {
    const sandbox = plan.image === 'none' ? undefined : { kind: 'fake', config: { image: plan.image } }
    const sample = { input: `plan ${this.#plans.size}`, sandbox }
    this.#plans.set(sample.input, plan)
    return sample
  }

  /** Kept for the end: thrown from here it would pass for a failure that was planned. */
  #must(...checks: (() => void)[]): void {
    for (const check of checks) {
      try {
        check()
      } catch (error) {
        this.broken ??= error
      }
    }
  }

  #source(): SampleSource {
    const seed = this.#scenario.seed.map((plan) => this.#sampleOf(plan))
    return SampleSource.fromSamples(seed, {
      nextSamples: () => this.#next(),
      sampleComplete: (record) =>
        this.#told(record.input, {
          entry: `${record.id} ${record.epoch} ${record.uuid}`,
          epoch: record.epoch,
        }),
      sampleAbandoned: (sample, epoch, { id }) =>
        this.#told(String(sample.input), { entry: `${id} ${epoch} abandoned`, epoch }),
    })
  }

  async #next(): Promise<readonly Sample[] | null> {
    const { prefetch, epochs } = this.#scenario
    const outstanding = this.planned.length * epochs + this.requeued - this.settled
    this.#must(
      () => expect(this.isAborted || this.isClosed).toBe(false),
      () => expect(this.#planner && outstanding).toBeLessThanOrEqual(prefetch),
      () => expect(prefetch > 0 || this.running + this.#telling === 0).toBe(true),
    )
    const answer = this.#answers.shift()
    for (let turns = answer?.turns ?? 0; turns > 0; turns--) await turn(this.#scheduler, 'nextSamples blocks')
    if (answer?.throws) throw new Error('nextSamples broke')
    this.lastAnswer = answer?.samples ?? null
    this.#reach('answered', this.#scenario.answers.length - this.#answers.length)
    return answer?.samples?.map((plan) => this.#sampleOf(plan)) ?? null
  }

  async #told(input: string, { entry, epoch }: { entry: string; epoch: number }): Promise<FollowUps> {
    this.#must(() => expect(this.isAborted).toBe(false))
    this.#telling++
    await turn(this.#scheduler, `${input} is told`)
    this.#telling--
    this.told.push(entry)
    this.settled++
    this.#reach('told', this.told.length)
    const plan = this.#plans.get(input)
    if (plan?.completeThrows) throw new Error('a callback broke')
    return epoch === 1 ? plan?.followUps.map((one) => this.#sampleOf(one)) : undefined
  }

  #abandoned(run: PlannedRun, outcomes: Outcomes): boolean {
    const isTold = outcomes.abandon(run)
    this.abandoned.push(run.key)
    if (!isTold) this.settled++
    return isTold
  }

  async #run(run: PlannedRun): Promise<RunOutcome> {
    const { gate, id, sample } = run.planned
    const plan = this.#plans.get(sample.input) ?? PLAIN
    const hasSlot = gate.state === 'ready'
    if (hasSlot) this.running++
    this.#must(
      () => expect(this.isAborted || this.isClosed).toBe(false),
      () => expect(gate.state).not.toBe('pending'),
      () => expect(run.control.isHeld && hasSlot).toBe(false),
      () => expect(this.running).toBeLessThanOrEqual(this.ceiling),
    )
    this.started.push(`${id} ${run.epoch} ${run.attempt}`)
    if (!plan.halted) run.control.state = 'working'
    await turn(this.#scheduler, `${sample.input} runs`)
    if (run.epoch === 1 && run.attempt === 1) await this.#addFrom(run, plan)
    await turn(this.#scheduler, `${sample.input} is logged`)
    if (hasSlot) this.running--
    this.ceiling = Math.max(this.#dispatcher?.maxSamples ?? 0, this.running)
    const isFirst = run.superseded === undefined
    if (plan.halted && isFirst) return this.#unrecorded({ kind: 'abandoned', why: 'stopped early' })
    const mayRetry = run.attempt <= plan.retries && isFirst && !run.control.action && !this.isClosed
    if (mayRetry && !this.isAborted) {
      run.earlier.push({
        uuid: '',
        attempt: run.attempt,
        error: errorRecord('agent', new Error('transient')),
      })
      return this.#unrecorded({ kind: 'retry' })
    }
    const fails = (plan.fails && isFirst) || gate.state === 'failed'
    return {
      kind: 'record',
      record: this.#log(run, attemptRecord(run, { fails, isAborted: this.isAborted })),
    }
  }

  #unrecorded<T extends RunOutcome>(outcome: T): T {
    this.unrecorded++
    return outcome
  }

  /** Its agent adds samples and, where it is planned so, waits for them without its slot. */
  async #addFrom(run: PlannedRun, plan: SamplePlan): Promise<void> {
    const handles = this.#enqueue(plan.enqueues.map((one) => this.#sampleOf(one)))
    if (!plan.waits || run.planned.gate.state !== 'ready' || plan.halted) return
    for (const { completion } of handles) {
      this.running--
      const stopped = ended(run, this.stop.signal)
      const waited = Promise.race([stopped, completion.completed()]).catch(() => undefined)
      await this.#dispatcher?.slots.whileWaiting(run, () => waited)
      this.running++
      this.#must(() => expect(this.isAborted || this.running <= this.ceiling).toBe(true))
    }
  }

  #log(run: PlannedRun, record: SampleRecord): SampleRecord {
    if (this.records.length === this.#scenario.logFailsAt) this.logFailed = true
    if (this.logFailed) throw new Error('the disk is full')
    this.records.push(record)
    const error = this.outcomes?.add(run, record)
    if (error && !this.isAborted) this.stop.abort(error)
    return record
  }

  #enqueue(samples: readonly Sample[]): readonly Handle[] {
    const handles = this.#add(samples)
    for (const handle of handles) {
      this.enqueued++
      const settled = (result: Settled['result']) => void this.completions.push({ handle, result })
      handle.completion.completed().then(
        (value) => settled({ status: 'fulfilled', value }),
        (reason: unknown) => settled({ status: 'rejected', reason }),
      )
    }
    return handles
  }

  #followUps(samples: FollowUps): void {
    this.#must(() => expect(this.isAborted || this.isClosed).toBe(false))
    this.#add(samples ?? [])
  }

  #add(samples: readonly Sample[]): readonly Handle[] {
    if (samples.length === 0) return []
    const addition = this.#planner?.added(samples, { origin: 'the model', hasHandles: true })
    if (!addition) return []
    this.#count(addition.planned)
    this.#dispatcher?.add(addition.planned)
    return addition.handles
  }

  #count(samples: readonly PlannedSample[]): void {
    this.planned.push(...samples)
    this.outcomes?.planned(samples.length)
  }
}
