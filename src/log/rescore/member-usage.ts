import { toUsage } from '../eval/usage.ts'
import type { SampleRecord } from '../records/records.ts'

/** What model calls used, by model and by role. */
export interface MemberUsage {
  readonly usage: SampleRecord['usage']
  readonly roleUsage: NonNullable<SampleRecord['roleUsage']>
}

type Counts = Record<string, Record<string, unknown>>

/** The same member with what further calls used added to its own, also where ours stands beside Inspect's. */
export function withUsage<T extends object>(member: T, { usage, roleUsage }: MemberUsage): T {
  if (Object.keys(usage).length === 0) return member
  const { model_usage, role_usage, belljar } = member as {
    model_usage?: Counts
    role_usage?: Counts
    belljar?: { usage?: Counts; roleUsage?: Counts }
  }
  const ours = belljar?.usage && {
    belljar: {
      ...belljar,
      usage: added(belljar.usage, usage),
      roleUsage: added(belljar.roleUsage, roleUsage),
    },
  }
  return {
    ...member,
    model_usage: added(model_usage, converted(usage)),
    role_usage: added(role_usage, converted(roleUsage)),
    ...ours,
  }
}

function converted(usages: SampleRecord['usage']): Counts {
  return Object.fromEntries(Object.entries(usages).map(([name, counts]) => [name, { ...toUsage(counts) }]))
}

function added(before: Counts = {}, more: Readonly<Counts>): Counts {
  const totals: Counts = { ...before }
  for (const [name, counts] of Object.entries(more)) {
    const total: Record<string, unknown> = { ...(Object.hasOwn(totals, name) ? totals[name] : {}) }
    for (const [kind, count] of Object.entries(counts))
      if (typeof count === 'number') total[kind] = (typeof total[kind] === 'number' ? total[kind] : 0) + count
    totals[name] = total
  }
  return totals
}
