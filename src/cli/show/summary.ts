import type { FooterRecord, HeaderRecord } from '../../log/records/records.ts'
import type { KeptSandbox, LeftObject } from '../../sandbox/provider.ts'
import { escapeLine, table } from '../../util/terminal.ts'

export interface SummaryRow {
  /** Harmless; default: the task's. */
  readonly name?: string
  readonly header: HeaderRecord
  /** undefined: the log has no end. */
  readonly footer: FooterRecord | undefined
}

/** The outcome of an eval: totals, then each scorer's metrics. */
export function summary({ header, footer, name = escapeLine(header.task.name, 80) }: SummaryRow): string {
  if (!footer) return `${name}: unfinished (the log has no end)`
  const { totals } = footer
  const ended = totals.success + totals.error + totals.limit + totals.cancelled
  const counts = [`${ended} of ${totals.total} ended`, `${totals.success} ok`]
  for (const kind of ['error', 'limit', 'cancelled'] as const)
    if (totals[kind] > 0) counts.push(`${totals[kind]} ${kind}`)
  if (totals.reused) counts.push(`${totals.reused} taken over`)
  const heading = `${name}: ${footer.status} (${counts.join(', ')})`
  const reason = footer.error ? [`  ${escapeLine(footer.error.message, 400)}`] : []
  return [heading, ...reason, scoreTable(footer)].filter((part) => part !== '').join('\n')
}

function scoreTable(footer: FooterRecord): string {
  if (footer.scores.length === 0) return ''
  const rows = footer.scores.flatMap(({ scorer, scored, unscored, metrics }) =>
    metrics.map(({ name, value }) => [
      escapeLine(scorer, 40),
      name,
      value === null ? '-' : value.toFixed(3),
      String(scored),
      String(unscored),
    ]),
  )
  return table([['scorer', 'metric', 'value', 'samples', 'unscored'], ...rows])
}

export function leftMessage(left: readonly LeftObject[]): string {
  const lines = left.map(
    ({ kind, name, reason, command }) =>
      `  ${kind} ${escapeLine(name)} (${escapeLine(reason)})\n    ${command}`,
  )
  return ['not removed; remove by hand:', ...lines].join('\n')
}

/** Which sandbox is whose, how to enter it and how to remove it. */
export function keptMessage(kept: readonly KeptSandbox[]): string {
  const rows = kept.flatMap(({ identity, enter, remove }) =>
    Object.entries(enter).map(([service, command]) => [
      escapeLine(identity.task, 40),
      escapeLine(identity.sample, 40),
      String(identity.epoch),
      escapeLine(service, 40),
      escapeLine(command, 1000),
      escapeLine(remove, 1000),
    ]),
  )
  return `kept sandboxes:\n${table([['task', 'sample', 'epoch', 'service', 'enter', 'remove'], ...rows])}`
}
