import fc from 'fast-check'

/** A sample and what comes of it. */
export interface SamplePlan {
  readonly image: 'none' | 'quick' | 'slow' | 'broken'
  readonly fails: boolean
  /** Attempts that fail before the last. */
  readonly retries: number
  /** A run of it is halted when it is about to start. */
  readonly halted: boolean
  /** Whether the agent waits for what it adds. */
  readonly waits: boolean
  /** What its agent adds in its first epoch. */
  readonly enqueues: readonly SamplePlan[]
  /** What the source returns when an epoch of it is complete; `throws`: it fails instead. */
  readonly followUps: readonly SamplePlan[]
  readonly completeThrows: boolean
}

export const PLAIN: SamplePlan = {
  image: 'none',
  fails: false,
  retries: 0,
  halted: false,
  waits: false,
  enqueues: [],
  followUps: [],
  completeThrows: false,
}

/** An answer of nextSamples, after so many turns. */
export interface Answer {
  readonly samples: readonly SamplePlan[] | null
  readonly turns: number
  readonly throws: boolean
}

/** The eval is cancelled at the so many-th turn, telling or answer, and so many ticks later. */
export interface Abort {
  readonly at: 'turn' | 'told' | 'answered'
  readonly count: number
  readonly ticks: number
}

/** What an operator does at the so many-th turn; `sample` picks one of those that there are. */
export interface Act {
  readonly turn: number
  readonly what:
    | 'cancel'
    | 'score'
    | 'error'
    | 'requeue'
    | 'pause'
    | 'resume'
    | 'pause task'
    | 'drain task'
    | 'score task'
  readonly sample: number
}

export interface Scenario {
  readonly epochs: number
  readonly maxSamples: number
  readonly prefetch: number
  readonly failOnError: boolean
  readonly seed: readonly SamplePlan[]
  readonly answers: readonly Answer[]
  readonly abort: Abort | undefined
  /** The log cannot be written from this record on. */
  readonly logFailsAt: number | undefined
  readonly resizes: readonly number[]
  readonly limit: number | undefined
  readonly acts: readonly Act[]
}

const rarely = fc.nat(11).map((number) => number === 11)

/** Generations of samples that come of a sample. */
const planOf = (generations: number): fc.Arbitrary<SamplePlan> => {
  const next =
    generations === 0 ? fc.constant([]) : fc.array(planOf(generations - 1), { maxLength: 2, size: 'small' })
  return fc.record({
    image: fc.constantFrom<SamplePlan['image'][]>('none', 'quick', 'slow', 'broken'),
    fails: rarely,
    retries: fc.nat(9).map((number) => (number > 7 ? number - 7 : 0)),
    halted: rarely,
    waits: fc.boolean(),
    enqueues: next,
    followUps: next,
    completeThrows: fc.nat(39).map((number) => number === 39),
  })
}

const plan = planOf(2)

const answer = fc.record<Answer>({
  samples: fc.oneof(
    { weight: 4, arbitrary: fc.array(plan, { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  turns: fc.nat(4),
  throws: fc.nat(39).map((number) => number === 39),
})

const abort = fc.oneof(
  fc.record<Abort>({ at: fc.constant('turn'), count: fc.nat(30), ticks: fc.constant(0) }),
  fc.record<Abort>({
    at: fc.constantFrom('told', 'answered'),
    count: fc.integer({ min: 1, max: 4 }),
    ticks: fc.nat(12),
  }),
)

const act = fc.record<Act>({
  turn: fc.nat(40),
  what: fc.constantFrom(
    'cancel',
    'score',
    'error',
    'requeue',
    'requeue',
    'pause',
    'resume',
    'pause task',
    'drain task',
    'score task',
  ),
  sample: fc.nat(),
})

export const scenario = fc.record<Scenario>({
  epochs: fc.integer({ min: 1, max: 3 }),
  maxSamples: fc.integer({ min: 1, max: 4 }),
  prefetch: fc.constantFrom(0, 0, 0, 1, 3),
  failOnError: fc.boolean(),
  seed: fc.array(plan, { maxLength: 3 }),
  answers: fc.array(answer, { maxLength: 4 }),
  abort: fc.option(abort, { nil: undefined, freq: 2 }),
  logFailsAt: fc.nat(60).map((at) => (at < 6 ? at : undefined)),
  resizes: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 2 }),
  limit: fc.option(fc.nat(12), { nil: undefined, freq: 4 }),
  acts: fc.array(act, { maxLength: 5 }),
})
