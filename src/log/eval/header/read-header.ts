import { z } from 'zod'
import {
  type FooterRecord,
  footerSchema,
  type HeaderRecord,
  headerSchema,
  LOG_VERSION,
  type SampleRecord,
} from '../../records/records.ts'
import { isoTime } from '../sample.ts'
import type { HeaderMember } from '../schema/members.ts'

const ourHeaderSchema = z.object({ header: headerSchema })
const ourFooterSchema = z.object({ footer: footerSchema })

/** undefined: belljar did not write it. */
export function ownHeader({ belljar }: { readonly belljar?: unknown }): HeaderRecord | undefined {
  return ourHeaderSchema.safeParse(belljar).data?.header
}

/** Our header behind that of a log; of one that Inspect wrote, what it says in our terms. */
export function readHeader(member: HeaderMember): HeaderRecord {
  const ours = ownHeader(member)
  if (ours) return ours
  const { eval: spec } = member
  const { config, dataset } = spec
  return {
    type: 'header',
    version: LOG_VERSION,
    belljar: '',
    run: spec.run_id ?? '',
    eval: spec.eval_id ?? '',
    createdAt: isoTime(spec.created),
    task: {
      name: spec.task,
      version: String(spec.task_version ?? 0),
      file: spec.task_file ?? undefined,
      parameters: spec.task_args ?? {},
      metadata: spec.metadata ?? undefined,
      tags: spec.tags ?? undefined,
    },
    dataset: { kind: 'fixed', samples: dataset.samples ?? 0, sampleIds: dataset.sample_ids ?? [] },
    model: spec.model,
    scorers: (spec.scorers ?? []).map(({ name }) => ({ name, metrics: [] })),
    epochs: config.epochs ?? 1,
    config: {
      maxSamples: config.max_samples ?? 0,
      maxSandboxes: config.max_sandboxes ?? 0,
      failOnError: config.fail_on_error ?? true,
      limits: {},
      sandboxes: [],
    },
  }
}

/** undefined while the log is being written. */
export async function readFooter(
  member: HeaderMember,
  summaries: () => Promise<SampleRecord[]>,
): Promise<FooterRecord | undefined> {
  if (ownHeader(member)) return ourFooterSchema.safeParse(member.belljar).data?.footer
  const { status, results, stats, error } = member
  if (status === 'started') return undefined
  return {
    type: 'footer',
    status,
    completedAt: isoTime(stats?.completed_at),
    totals: countOutcomes(await summaries(), results?.total_samples),
    scores: (results?.scores ?? []).map(({ name, reducer, scored_samples, unscored_samples, metrics }) => ({
      scorer: name,
      reducer: reducer ?? undefined,
      scored: scored_samples ?? 0,
      unscored: unscored_samples ?? 0,
      metrics: Object.values(metrics).map((metric) => ({
        name: metric.name,
        value: typeof metric.value === 'number' ? metric.value : null,
      })),
    })),
    error: error ? { kind: 'internal', code: 'error', message: error.message } : undefined,
    sourceEnded: true,
  }
}

function countOutcomes(samples: readonly SampleRecord[], total: number | undefined): FooterRecord['totals'] {
  const totals = { total: total ?? samples.length, success: 0, error: 0, limit: 0, cancelled: 0 }
  for (const { status } of samples) totals[status]++
  return totals
}
