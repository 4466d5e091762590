import { errorRecord } from '../../log/records/error-record.ts'
import type { ConfigRecord } from '../../log/records/records.ts'
import type { GateOutcome } from './config-gate.ts'

/** What the log keeps of a configuration that is ready or failed. */
export function configRecord(outcome: GateOutcome): ConfigRecord {
  if (outcome.state === 'ready') {
    const { config, facts, durationMs } = outcome.initialised
    const { key, kind, description, reach } = config
    return {
      type: 'config',
      key,
      kind,
      description,
      reach,
      durationMs,
      images: { ...facts.images },
      planDigest: facts.planDigest,
      ...(facts.transports && { transports: { ...facts.transports } }),
    }
  }
  const { config, spec, error, durationMs } = outcome
  const { key = '', description = JSON.stringify(spec.config ?? spec.kind), reach = '' } = config ?? {}
  return {
    type: 'config',
    key,
    kind: spec.kind,
    description,
    reach,
    durationMs,
    error: errorRecord('config', error),
  }
}
