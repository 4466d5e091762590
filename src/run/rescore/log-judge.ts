import { ModelCalls } from '../../agent/calls/model-calls.ts'
import { ResponseCache } from '../../agent/calls/response-cache.ts'
import { ModelMeter, type RunModels } from '../../agent/model-meter.ts'
import { ModelRecorder } from '../../agent/model-recorder.ts'
import { errorMessage } from '../../errors.ts'
import { Budget } from '../../limit/budget.ts'
import { Limiter } from '../../limit/limiter.ts'
import { WorkClock } from '../../limit/work-clock.ts'
import type { EvalFile } from '../../log/eval/file/eval-file.ts'
import type { HeaderRecord, SampleRecord } from '../../log/records/records.ts'
import type { NewScores } from '../../log/rescore/write-rescored.ts'
import type { SampleId } from '../../sample/sample-id.ts'
import type { Score, Scorer, ScorerContext } from '../../score/scorer.ts'
import type { NamedScorer } from '../../score/scorer-names.ts'
import { declaredSecrets, environmentSecrets } from '../../task/secrets.ts'
import { untilAborted } from '../../util/abort.ts'
import { deadline } from '../../util/deadline.ts'
import { SecretMask } from '../../util/secret-mask.ts'
import { givenScore } from '../given-score.ts'
import { absentSandbox } from '../sample/absent-sandbox.ts'
import { UsageCount } from '../sample/usage-count.ts'
import { taskModels } from '../task-models.ts'
import type { ScoreLogOptions } from './score-log.ts'

/** What a scorer threw. */
export interface ScoreFailure {
  readonly id: SampleId
  readonly epoch: number
  readonly scorer: string
  readonly message: string
}

export interface JudgedSample {
  /** Name of the sample's member in the log. */
  readonly member: string
  readonly facts: Pick<SampleRecord, 'uuid' | 'id' | 'epoch' | 'status' | 'metadata' | 'belljar' | 'usage'>
  readonly added: NewScores
}

interface Parts {
  readonly file: EvalFile
  readonly header: HeaderRecord
  readonly scorers: readonly NamedScorer[]
  readonly options: ScoreLogOptions
}

const SAMPLES_AT_ONCE = 10
const NO_SANDBOX = absentSandbox(
  'the sandbox is gone once an eval has ended: a scorer that acts in it cannot score a log again',
)

/** Lets scorers judge the samples of a log, several at once. Of each only its scores are held. */
export class LogJudge {
  readonly failures: ScoreFailure[] = []
  leftOut = 0
  readonly #parts: Parts
  readonly #signal: AbortSignal
  readonly #secrets = new SecretMask()
  #models: RunModels | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#signal = parts.options.signal ?? new AbortController().signal
    this.#secrets.add(declaredSecrets(parts.options.secrets ?? [], process.env))
    this.#secrets.add(environmentSecrets(process.env))
  }

  /** In the order of the log. @throws ConfigError for a model that cannot be loaded, and what the signal is aborted with */
  async judge(): Promise<JudgedSample[]> {
    const { file, options } = this.#parts
    this.#models = await this.#loadModels()
    const limiter = new Limiter(options.maxSamples ?? SAMPLES_AT_ONCE)
    const members = file.sampleMembers
    let done = 0
    const judged = await Promise.all(
      members.map(async (member) => {
        using _slot = await limiter.acquire({ signal: this.#signal })
        const sample = await this.#judgeOne(member)
        options.onProgress?.(++done, members.length)
        return sample
      }),
    )
    return judged.flatMap((sample) => sample ?? [])
  }

  async #loadModels(): Promise<RunModels> {
    const { maxConnections, cache } = this.#parts.options
    const calls = new ModelCalls({ maxConnections, cache: cache && new ResponseCache(cache) })
    return { ...(await taskModels({}, this.#parts.options)), calls }
  }

  async #judgeOne(member: string): Promise<JudgedSample | undefined> {
    const { file, header, scorers } = this.#parts
    const { record } = await file.sampleOf(member)
    const { status, uuid, id, epoch, metadata, belljar, usage } = record
    if (status === 'cancelled' || (status === 'error' && !header.config.scoreOnError)) {
      this.leftOut++
      return undefined
    }
    const count = new UsageCount()
    const scores: Record<string, Score> = {}
    for (const { name, scorer } of scorers) {
      const score = await this.#score(record, { name, scorer, count })
      if (score) scores[name] = this.#secrets.value(score)
    }
    const added = { scores, usage: count.usage, roleUsage: count.roleUsage }
    return { member, facts: { status, uuid, id, epoch, metadata, belljar, usage }, added }
  }

  async #score(
    record: SampleRecord,
    { name, scorer, count }: NamedScorer & { count: UsageCount },
  ): Promise<Score | undefined> {
    using own = deadline(this.#signal, scorer.timeoutMs, `scorer '${name}'`)
    try {
      const score = await untilAborted(this.#ask(scorer, record, { count, signal: own.signal }), own.signal)
      return givenScore(name, score)
    } catch (error) {
      this.#signal.throwIfAborted()
      const { id, epoch } = record
      this.failures.push({ id, epoch, scorer: name, message: this.#secrets.text(errorMessage(error)) })
      return undefined
    }
  }

  async #ask(
    scorer: Scorer,
    record: SampleRecord,
    parts: { count: UsageCount; signal: AbortSignal },
  ): Promise<Score | null> {
    return scorer.score(this.#context(record, parts))
  }

  #context(
    record: SampleRecord,
    { count, signal }: { count: UsageCount; signal: AbortSignal },
  ): ScorerContext {
    const { id, epoch, input, inputParts, target, choices, metadata, messages, output } = record
    const meter = new ModelMeter({
      models: this.#models ?? { calls: new ModelCalls() },
      budget: new Budget({}, this.#parts.options.prices),
      recorder: new ModelRecorder({ record: (event) => event.type === 'model-output' && count.add(event) }),
      clock: new WorkClock(),
      group: this.#parts.header.eval,
      epoch,
      signal,
    })
    return {
      model: meter.model,
      modelRole: (role) => meter.modelRole(role),
      metered: (model) => meter.metered(model),
      sample: { id, input, content: inputParts ?? input, target, choices, metadata },
      epoch,
      state: { messages, output },
      sandbox: NO_SANDBOX,
      service: () => NO_SANDBOX,
      signal,
    }
  }
}
