import type { HeaderMember } from '../schema/members.ts'
import type { EvalFile } from './eval-file.ts'
import { toMemberJson } from './member-json.ts'

/** Order in which readers that stop at the samples expect what comes before them. */
const KEYS = [
  'version',
  'status',
  'eval',
  'plan',
  'results',
  'stats',
  'error',
  'invalidated',
  'log_updates',
  'config_updates',
  'tags',
  'metadata',
  'belljar',
] as const

/** A log in Inspect's JSON form, in pieces of at most one sample. Format: inspect_ai/log/_recorders/json.py. */
export async function* toEvalJson(file: EvalFile): AsyncGenerator<string> {
  const member: Readonly<Record<string, unknown>> = withNumbers(await file.headerMember())
  yield '{'
  for (const [index, key] of KEYS.filter((key) => isGiven(member[key])).entries())
    yield `${index === 0 ? '' : ','}\n  ${JSON.stringify(key)}: ${toMemberJson(member[key])}`
  yield ',\n  "samples": ['
  for (const [index, name] of file.sampleMembers.entries())
    yield `${index === 0 ? '' : ','}\n    ${await file.text(name)}`
  yield '\n  ]'
  if (file.has('reductions.json')) yield `,\n  "reductions": ${await file.text('reductions.json')}`
  yield '\n}\n'
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Numbers that were not finite were read as text: figures are numbers again. */
function withNumbers(member: HeaderMember): HeaderMember {
  const { results } = member
  if (!results) return member
  const scores = results.scores.map((score) => ({
    ...score,
    metrics: Object.fromEntries(
      Object.entries(score.metrics).map(([name, metric]) => [
        name,
        { ...metric, value: Number(metric.value) },
      ]),
    ),
  }))
  return { ...member, results: { ...results, scores } }
}
