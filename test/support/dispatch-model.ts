import { setMaxListeners } from 'node:events'
import type { Scheduler } from 'fast-check'
import { expect } from 'vitest'
import { errorRecord } from '../../src/log/error-record.ts'
import type { SampleRecord } from '../../src/log/records.ts'
import { ConfigGates } from '../../src/run/config/config-gate.ts'
import { Dispatcher } from '../../src/run/dispatch/dispatcher.ts'
import type { PlannedRun, PlannedSample, RunOutcome } from '../../src/run/dispatch/planned-sample.ts'
import { SamplePlanner } from '../../src/run/dispatch/sample-planner.ts'
import { resolveTask } from '../../src/run/resolved-task.ts'
import { Results } from '../../src/run/results.ts'
import { SampleLife } from '../../src/run/sample/sample-life.ts'
import type { Sample } from '../../src/sample/sample.ts'
import { FakeProvider } from '../../src/sandbox/fake/fake-provider.ts'
import { SandboxManager } from '../../src/sandbox/sandbox-manager.ts'
import { taskFromCode } from '../../src/task/load-tasks.ts'
import { type FollowUps, SampleSource } from '../../src/task/sample-source.ts'
import { defineTask } from '../../src/task/task.ts'
import type { SamplePlan, Scenario } from './dispatch-scenario.ts'
import { turn } from './drain.ts'

type Settled = { readonly planned: PlannedSample; readonly result: PromiseSettledResult<SampleRecord[]> }

/** Plays a scenario on a dispatcher, its planner, gates and results, checking at every step what must hold at that step. */
export class DispatchModel {
  readonly stop = new AbortController()
  readonly planned: PlannedSample[] = []
  readonly records: SampleRecord[] = []
  readonly started: string[] = []
  readonly told: string[] = []
  readonly completions: Settled[] = []
  readonly results = new Results({ scorers: [] })
  lastAnswer: unknown
  broken: unknown
  enqueued = 0
  logFailed = false
  running = 0
  ceiling: number
  readonly #scheduler: Scheduler
  readonly #scenario: Scenario
  readonly #plans = new Map<unknown, SamplePlan>()
  readonly #answers: Scenario['answers'][number][]
  #dispatcher: Dispatcher | undefined
  #planner: SamplePlanner | undefined
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

  resize(limit: number): void {
    if (!this.#dispatcher) return
    this.ceiling = Math.max(limit, this.running)
    this.#dispatcher.maxSamples = limit
  }

  async run(): Promise<boolean> {
    const { epochs, maxSamples, prefetch } = this.#scenario
    const source = this.#source()
    const task = await resolveTask(
      taskFromCode(defineTask({ name: 'model', agent: 'nop', dataset: source, epochs })),
      {},
    )
    this.#planner = new SamplePlanner(task, this.#gates())
    this.#dispatcher = new Dispatcher({
      epochs,
      maxSamples,
      source,
      prefetch,
      sleep: () => turn(this.#scheduler, 'a pause ends'),
      signal: this.stop.signal,
      run: (run) => this.#run(run),
      plan: (samples) => this.#followUps(samples),
      callbackFailed: (error) => this.stop.abort(error),
      keepState: () => undefined,
      abandoned: () => true,
      fail: (error) => this.stop.abort(error),
      warn: () => undefined,
    })
    const seed = this.#planner.seed()
    this.#count(seed)
    this.#dispatcher.addSeed(seed)
    return this.#dispatcher.run()
  }

  /** Adds after the end, as a timer that an agent left behind would. */
  addLate(): void {
    this.#enqueue([
      this.#sampleOf({ image: 'none', fails: false, enqueues: [], followUps: [], completeThrows: false }),
    ])
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

  #gates(): ConfigGates {
    const provider = new FakeProvider({
      taskInit: async (image) => {
        if (image !== 'quick') await turn(this.#scheduler, `${image} is built`)
        if (image === 'broken') throw new Error('no such image')
      },
    })
    return new ConfigGates({
      manager: new SandboxManager({ run: 'run', maxSandboxes: 1 }),
      taskDirectory: '/',
      specOf: (sample) => sample.sandbox,
      providerOf: async () => provider,
      context: { signal: this.stop.signal },
      onSettled: () => undefined,
    })
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
      sampleComplete: (record) => this.#complete(record),
    })
  }

  async #next(): Promise<readonly Sample[] | null> {
    const { prefetch, epochs } = this.#scenario
    const outstanding = this.planned.length * epochs - this.told.length
    this.#must(
      () => expect(this.isAborted).toBe(false),
      () => expect(outstanding).toBeLessThanOrEqual(prefetch),
      () => expect(prefetch > 0 || this.running + this.#telling === 0).toBe(true),
    )
    const answer = this.#answers.shift()
    for (let turns = answer?.turns ?? 0; turns > 0; turns--) await turn(this.#scheduler, 'nextSamples blocks')
    if (answer?.throws) throw new Error('nextSamples broke')
    this.lastAnswer = answer?.samples ?? null
    this.#reach('answered', this.#scenario.answers.length - this.#answers.length)
    return answer?.samples?.map((plan) => this.#sampleOf(plan)) ?? null
  }

  async #complete(record: SampleRecord): Promise<FollowUps> {
    this.#must(() => expect(this.isAborted).toBe(false))
    this.#telling++
    await turn(this.#scheduler, `${record.input} is told`)
    this.#telling--
    this.told.push(`${record.id} ${record.epoch}`)
    this.#reach('told', this.told.length)
    const plan = this.#plans.get(record.input)
    if (plan?.completeThrows) throw new Error('sampleComplete broke')
    return record.epoch === 1 ? plan?.followUps.map((one) => this.#sampleOf(one)) : undefined
  }

  async #run(run: PlannedRun): Promise<RunOutcome> {
    const { gate, id, sample } = run.planned
    const plan = this.#plans.get(sample.input)
    if (gate.state === 'ready') this.running++
    this.#must(
      () => expect(this.isAborted).toBe(false),
      () => expect(gate.state).not.toBe('pending'),
      () => expect(this.running).toBeLessThanOrEqual(this.ceiling),
    )
    this.started.push(`${id} ${run.epoch}`)
    const life = new SampleLife(run, () => undefined)
    await turn(this.#scheduler, `${sample.input} runs`)
    if (run.epoch === 1 && plan) this.#enqueue(plan.enqueues.map((one) => this.#sampleOf(one)))
    if (plan?.fails || gate.state === 'failed') life.fail('agent', new Error('it failed'))
    else if (this.isAborted) life.cancel()
    await turn(this.#scheduler, `${sample.input} is logged`)
    if (gate.state === 'ready') this.running--
    this.ceiling = Math.max(this.#dispatcher?.maxSamples ?? 0, this.running)
    return { kind: 'record', record: this.#log(run, life.finish(undefined)) }
  }

  #log({ planned }: PlannedRun, record: SampleRecord): SampleRecord {
    if (this.records.length === this.#scenario.logFailsAt) this.logFailed = true
    if (this.logFailed) throw new Error('the disk is full')
    this.records.push(record)
    this.results.add(planned.index, record)
    if (record.status === 'error' && this.#scenario.failOnError && !this.isAborted)
      this.stop.abort(errorRecord('agent', 'a sample failed'))
    return record
  }

  #enqueue(samples: readonly Sample[]): void {
    for (const planned of this.#add(samples)) {
      this.enqueued++
      const settled = (result: Settled['result']) => void this.completions.push({ planned, result })
      planned.completion?.completed().then(
        (value) => settled({ status: 'fulfilled', value }),
        (reason: unknown) => settled({ status: 'rejected', reason }),
      )
    }
  }

  #followUps(samples: FollowUps): void {
    this.#must(() => expect(this.isAborted).toBe(false))
    this.#add(samples ?? [])
  }

  #add(samples: readonly Sample[]): PlannedSample[] {
    if (samples.length === 0) return []
    const planned = [...(this.#planner?.added(samples, 'the model').planned ?? [])]
    this.#count(planned)
    this.#dispatcher?.add(planned)
    return planned
  }

  #count(samples: readonly PlannedSample[]): void {
    this.planned.push(...samples)
    this.results.planned(samples.length * this.#scenario.epochs)
  }
}
