import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { ConfigError } from '../../errors.ts'
import type { Prices } from '../../limit/budget.ts'
import { EvalFile } from '../../log/eval/file/eval-file.ts'
import { EvalReductions } from '../../log/eval/reductions.ts'
import { isFinishedPath, recordsPathOf } from '../../log/log-paths.ts'
import type { FooterRecord, HeaderRecord, SampleRecord } from '../../log/records/records.ts'
import { type RescoreAction, writeRescored } from '../../log/rescore/write-rescored.ts'
import { DEFAULT_METRICS } from '../../score/metrics.ts'
import { type Reducer, type ReducerName, reducerOf } from '../../score/reduce.ts'
import type { Scorer } from '../../score/scorer.ts'
import { type NamedScorer, namedScorers } from '../../score/scorer-names.ts'
import { VERSION } from '../../util/version.ts'
import type { EvaluateOptions } from '../options.ts'
import { Results } from '../results.ts'
import { type JudgedSample, LogJudge, type ScoreFailure } from './log-judge.ts'

export interface ScoreLogOptions
  extends Pick<
    EvaluateOptions,
    | 'model'
    | 'modelBaseUrl'
    | 'modelArgs'
    | 'modelRoles'
    | 'config'
    | 'maxConnections'
    | 'cache'
    | 'secrets'
    | 'signal'
  > {
  /** None may need a sandbox. */
  readonly scorers: readonly Scorer[]
  /** Default `append`. */
  readonly action?: RescoreAction
  /** Path of the new log (default: beside the old one, with `-scored` in its name). */
  readonly out?: string
  /** How the epochs of a sample become one score (default: their mean). */
  readonly reducers?: readonly (ReducerName | Reducer)[]
  readonly prices?: Prices
  /** Samples judged at once (default 10). */
  readonly maxSamples?: number
  readonly onProgress?: (done: number, total: number) => void
}

export interface ScoredLog {
  /** Of the new log. */
  readonly log: string
  readonly header: HeaderRecord
  readonly footer: FooterRecord
  /** Samples and epochs that the scorers saw. */
  readonly judged: number
  /** Those that ended with an error or were cancelled, and stay as they are. */
  readonly leftOut: number
  /** What scorers threw; such a sample is unscored by that scorer. */
  readonly failures: readonly ScoreFailure[]
}

/**
 * Scores the samples of a finished log again, without agents and sandboxes, and writes a new log; the old one stays as it is. Reads logs
 * that Inspect wrote, too. @throws ConfigError for a log without an end, a scorer that needs a sandbox, and a path that is taken
 */
export async function scoreLog(path: string, options: ScoreLogOptions): Promise<ScoredLog> {
  const { action = 'append', scorers } = options
  checkScorers(scorers)
  const found = recordsPathOf(path)
  if (!isFinishedPath(found))
    throw new ConfigError(
      'the log has no end: once its run is over, belljar log recover makes one that has',
      { where: path },
    )
  await using file = await EvalFile.open(found)
  const [header, footer] = [await file.header(), await file.footer()]
  if (!footer) throw new ConfigError('the log has no end', { where: path })
  const target = options.out ?? freeName(found)
  if (existsSync(target)) throw new ConfigError('there is a file of that name', { where: target })
  // Names that the log has already are not given to others.
  const named = namedScorers(scorers, action === 'append' ? await namesIn(file, header) : [])
  const judge = new LogJudge({ file, header, scorers: named, options })
  const judged = await judge.judge()
  const { scores, reductions } = await summed(judged, { file, header, named, options })
  await writeRescored(file, target, {
    action,
    samples: new Map(judged.map(({ member, added }) => [member, added])),
    scorers: named.map(({ name, scorer }) => ({ name, metrics: metricNames(scorer) })),
    scores,
    reductions,
    mark: {
      at: new Date().toISOString(),
      belljar: VERSION,
      from: basename(found),
      action,
      scorers: named.map(({ name }) => name),
    },
  })
  await using scored = await EvalFile.open(target)
  return {
    log: target,
    header: await scored.header(),
    footer: (await scored.footer()) ?? footer,
    judged: judged.length,
    leftOut: judge.leftOut,
    failures: judge.failures,
  }
}

function checkScorers(scorers: readonly Scorer[]): void {
  if (scorers.length === 0) throw new ConfigError('no scorer to score with', { where: 'scorers' })
  const wrong = scorers.filter(({ needsSandbox }) => needsSandbox).map(({ name }) => `'${name}'`)
  if (wrong.length > 0)
    throw new ConfigError(
      `${wrong.join(', ')} act in the sandbox, which is gone once an eval has ended; only scorers of what an agent said can score a log again`,
      { where: 'scorers' },
    )
}

async function namesIn(file: EvalFile, { scorers }: HeaderRecord): Promise<string[]> {
  const inSamples = (await file.summaries()).flatMap(({ scores }) => Object.keys(scores))
  return [...new Set([...scorers.map(({ name }) => name), ...inSamples])]
}

function metricNames({ metrics = DEFAULT_METRICS }: Scorer): string[] {
  return metrics.map(({ name }) => name)
}

interface SumOptions {
  readonly file: EvalFile
  readonly header: HeaderRecord
  readonly named: readonly NamedScorer[]
  readonly options: ScoreLogOptions
}

/** The figures of the new scorers, over the samples in plan order; those that count in no figure of the log count in none here. */
async function summed(
  judged: readonly JudgedSample[],
  { file, header, named, options }: SumOptions,
): Promise<{ scores: FooterRecord['scores']; reductions: EvalReductions }> {
  const reducers = options.reducers?.flatMap((reducer) => reducerOf(reducer) ?? [])
  const scoreOnError = header.config.scoreOnError ?? false
  const results = new Results({ scorers: named, reducers, scoreOnError })
  const scorers = named.map(({ name, scorer }) => ({ name, metrics: metricNames(scorer) }))
  const reductions = new EvalReductions({ scorers, config: header.config })
  const others = await file.others()
  const outside = new Set(others.flatMap((record) => (record.type === 'sample-outside' ? [record.uuid] : [])))
  const place = placesOf(header, judged)
  for (const { facts, added } of judged) {
    if (outside.has(facts.uuid)) continue
    const record = { ...facts, scores: added.scores } as SampleRecord
    results.add(place.get(String(facts.id)) ?? 0, record)
    reductions.add(record)
  }
  return { scores: results.scores(), reductions }
}

/** Samples of the seed stand first, those that were added after them. */
function placesOf({ dataset }: HeaderRecord, judged: readonly JudgedSample[]): ReadonlyMap<string, number> {
  const ids = [...dataset.sampleIds.map(String), ...judged.map(({ facts }) => String(facts.id))]
  return new Map([...new Set(ids)].map((id, index) => [id, index]))
}

function freeName(path: string): string {
  const stem = path.replace(/\.eval$/, '')
  for (let number = 1; ; number++) {
    const name = `${stem}-scored${number > 1 ? `-${number}` : ''}.eval`
    if (!existsSync(name)) return name
  }
}

export type { RescoreAction, ScoreFailure }
