import type { ModelUsage } from '../../agent/model.ts'
import type { ModelEvent } from '../../agent/transcript.ts'

type Usages = Record<string, Record<string, number>>

/** What calls used, by model, and by role for those of a role. What was read from the run's cache was not spent. */
export class UsageCount {
  readonly usage: Usages = {}
  readonly roleUsage: Usages = {}

  add({ model, role, output }: ModelEvent): void {
    if (!output || output.cache === 'read') return
    addUsage(this.usage, model, output.usage)
    if (role !== undefined) addUsage(this.roleUsage, role, output.usage)
  }
}

function addUsage(totals: Usages, name: string, usage: ModelUsage): void {
  const total = Object.hasOwn(totals, name) ? (totals[name] ?? {}) : {}
  totals[name] = total
  for (const [kind, count] of Object.entries(usage)) total[kind] = (total[kind] ?? 0) + count
}
