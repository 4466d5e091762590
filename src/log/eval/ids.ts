import type { SampleRecord } from '../records/records.ts'

/** Inspect knows whole numbers and text as ids. */
export function toEvalId(id: SampleRecord['id']): SampleRecord['id'] {
  return typeof id === 'number' && !Number.isSafeInteger(id) ? String(id) : id
}

/** Name of a sample's member; the id is part of it as it is. */
export function sampleMemberName(id: SampleRecord['id'], epoch: number): string {
  return `samples/${id}_epoch_${epoch}.json`
}
