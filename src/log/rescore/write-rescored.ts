import { link, rm } from 'node:fs/promises'
import { ConfigError, errorMessage } from '../../errors.ts'
import type { Score } from '../../score/scorer.ts'
import type { EvalFile } from '../eval/file/eval-file.ts'
import { toMemberJson } from '../eval/file/member-json.ts'
import { toResultScores, toSpecScorers } from '../eval/header/header.ts'
import type { EvalReductions } from '../eval/reductions.ts'
import type { SampleMember, SummaryEntry } from '../eval/schema/members.ts'
import { thinScores } from '../eval/summary.ts'
import { parsePythonNumbers } from '../journal/jsonl.ts'
import type { FooterRecord, HeaderRecord, SampleRecord } from '../records/records.ts'
import { ZipWriter } from '../zip/zip-writer.ts'
import { type MemberUsage, withUsage } from './member-usage.ts'

/** `append`: beside the scores that there are; `overwrite`: in their place. */
export type RescoreAction = 'append' | 'overwrite'

/** What new scorers say of one sample. */
export interface NewScores extends MemberUsage {
  readonly scores: SampleRecord['scores']
}

export interface Rescored {
  readonly action: RescoreAction
  /** By name of the sample's member; a sample without an entry stays as it is. */
  readonly samples: ReadonlyMap<string, NewScores>
  readonly scorers: HeaderRecord['scorers']
  readonly scores: FooterRecord['scores']
  readonly reductions: EvalReductions
  readonly mark: NonNullable<HeaderRecord['rescored']>[number]
}

type Json = Record<string, unknown>

/**
 * Writes a copy of a finished log, ours or Inspect's, with other scores and all else as it was, whatever it is. Resolves when it is whole
 * and has its name. @throws ConfigError when there is a file of that name
 */
export async function writeRescored(file: EvalFile, target: string, rescored: Rescored): Promise<void> {
  const part = `${target}.part`
  const zip = await ZipWriter.create(part)
  try {
    await zip.add('_journal/start.json', await file.text('_journal/start.json'))
    for (const name of file.sampleMembers) await zip.add(name, await sampleText(file, name, rescored))
    const summaries = (await jsonOf(file, 'summaries.json')) as SummaryEntry[]
    await zip.add('summaries.json', toMemberJson(summaries.map((entry) => newSummary(entry, rescored))))
    await zip.add('reductions.json', toMemberJson(await reductionsOf(file, rescored)))
    for (const name of otherMembers(file)) await zip.add(name, await file.text(name))
    await zip.add(
      'header.json',
      toMemberJson(newHeader((await jsonOf(file, 'header.json')) as Json, rescored)),
    )
    await zip.end()
    await named(part, target)
  } catch (error) {
    await zip.abandon()
    throw error
  } finally {
    await rm(part, { force: true })
  }
}

/** Never over another file. */
async function named(part: string, target: string): Promise<void> {
  await link(part, target).catch((cause: unknown) => {
    throw new ConfigError(`cannot be written: ${errorMessage(cause)}`, { where: target, cause })
  })
}

async function jsonOf(file: EvalFile, name: string): Promise<unknown> {
  return parsePythonNumbers(await file.text(name))
}

/** Summaries that were written in between would show the old scores. */
function otherMembers(file: EvalFile): string[] {
  const known = ['_journal/start.json', 'summaries.json', 'reductions.json', 'header.json']
  return file.memberNames.filter(
    (name) =>
      !known.includes(name) && !name.startsWith('samples/') && !name.startsWith('_journal/summaries/'),
  )
}

async function sampleText(file: EvalFile, name: string, { samples, action }: Rescored): Promise<string> {
  const text = await file.text(name)
  const added = samples.get(name)
  if (!added) return text
  const member = parsePythonNumbers(text) as SampleMember
  const scores = merged(member.scores ?? {}, added.scores, action)
  const events = [...(member.events ?? []), ...scoreEvents(member, added)]
  return toMemberJson({ ...withUsage(member, added), scores, events })
}

function merged<T>(
  before: Readonly<Record<string, T>>,
  added: object,
  action: RescoreAction,
): Record<string, T> {
  return { ...(action === 'append' ? before : {}), ...(added as Record<string, T>) }
}

function scoreEvents({ uuid, id, epoch, target, events = [] }: SampleMember, { scores }: NewScores) {
  const timestamp = new Date().toISOString()
  const last = events.at(-1)?.working_start
  return Object.entries(scores).map(([scorer, score]: [string, Score], index) => ({
    uuid: `${uuid ?? `${id}-${epoch}`}-rescored-${events.length + index}`,
    timestamp,
    working_start: typeof last === 'number' ? last : 0,
    event: 'score' as const,
    score: { ...score },
    target,
    intermediate: false,
    scorer,
  }))
}

function newSummary(entry: SummaryEntry, { samples, action }: Rescored): SummaryEntry {
  const added = samples.get(`samples/${entry.id}_epoch_${entry.epoch}.json`)
  if (!added) return entry
  return { ...withUsage(entry, added), scores: merged(entry.scores ?? {}, thinScores(added.scores), action) }
}

async function reductionsOf(file: EvalFile, { action, reductions, scores }: Rescored): Promise<unknown[]> {
  const before =
    action === 'append' && file.has('reductions.json') ? await jsonOf(file, 'reductions.json') : []
  return [...(before as unknown[]), ...reductions.member({ scores })]
}

function newHeader(header: Json, rescored: Rescored): Json {
  const { action, scores, scorers, samples } = rescored
  const spec = header.eval as Json
  const results = (header.results ?? { total_samples: samples.size, completed_samples: samples.size }) as Json
  const config = (spec.config ?? {}) as { epochs?: number | null }
  const before = <T>(list: unknown): T[] => (action === 'append' && Array.isArray(list) ? (list as T[]) : [])
  return {
    ...header,
    eval: { ...spec, scorers: [...before(spec.scorers), ...toSpecScorers(scorers)] },
    results: {
      ...results,
      scores: [...before(results.scores), ...toResultScores(scores, config.epochs ?? 1)],
    },
    ...(header.stats ? { stats: [...samples.values()].reduce(withUsage, header.stats as Json) } : {}),
    belljar: ownPart(header.belljar, rescored),
  }
}

/** What our readers take from behind the header of a log that belljar wrote. */
function ownPart(
  belljar: unknown,
  { action, scorers, scores, mark }: Rescored,
): { header?: HeaderRecord; footer?: FooterRecord } | { rescored: unknown } {
  const { header, footer } = (belljar ?? {}) as { header?: HeaderRecord; footer?: FooterRecord }
  if (!header || !footer) return { ...((belljar ?? {}) as object), rescored: [mark] }
  const before = action === 'append'
  return {
    header: {
      ...header,
      scorers: [...(before ? header.scorers : []), ...scorers],
      rescored: [...(header.rescored ?? []), mark],
    },
    footer: { ...footer, scores: [...(before ? footer.scores : []), ...scores] },
  }
}
