import { parsePythonJson } from '../../src/log/journal/jsonl.ts'
import { ZipFile } from '../../src/log/zip/zip-file.ts'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/
/** Values that are other ones in every run, or on every machine. */
const VARYING =
  /^(run|eval|run_id|eval_id|task_id|belljar|version|revision|packages|stack|traceback|traceback_ansi|durationMs|startedMs|totalMs|workingMs|total_time|working_time|working_start|time|maxSamples|max_samples|maxSandboxes|max_sandboxes|digest|span_id)$/
const MAX_TEXT = 120

/** What a finished log says, member by member, without what is another in every run: what a test can compare with what was written down. */
export async function outlineOf(path: string): Promise<string> {
  await using zip = await ZipFile.open(path)
  const uuids = new Map<string, string>()
  const members: Record<string, unknown> = {}
  for (const name of zip.names.sort()) members[name] = outlined(parsePythonJson(await zip.text(name)), uuids)
  return `${JSON.stringify(members, null, 1)}\n`
}

function outlined(value: unknown, uuids: Map<string, string>): unknown {
  if (Array.isArray(value)) return inOrder(value).map((item) => outlined(item, uuids))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        VARYING.test(name) && !(name === 'belljar' && typeof item === 'object')
          ? '<varies>'
          : outlined(item, uuids),
      ]),
    )
  if (typeof value !== 'string') return value
  if (TIME.test(value)) return '<time>'
  const text = value.replace(UUID, (uuid) => {
    const known = uuids.get(uuid) ?? `<uuid ${uuids.size + 1}>`
    uuids.set(uuid, known)
    return known
  })
  return text.length > MAX_TEXT ? `${text.slice(0, 40)}… (${text.length} characters)` : text
}

/** Samples are in the order in which they ended, which varies; and what happens in one millisecond may be in either of two spans. */
function inOrder(items: readonly unknown[]): readonly unknown[] {
  const keys = items.map(keyOf)
  if (items.length === 0 || keys.includes(undefined)) return items
  return items
    .map((item, index) => ({ item, key: keys[index] ?? '' }))
    .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
    .map(({ item }) => (isEvent(item) ? { ...item, uuid: '<varies>' } : item))
}

function keyOf(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  const { id, sample_id = id, epoch, role, metadata } = item as Record<string, unknown>
  if (isEvent(item)) {
    const { order } = ((metadata as Record<string, unknown> | undefined)?.belljar ?? {}) as { order?: number }
    return order === undefined ? '' : String(order).padStart(6, '0')
  }
  const isOfSample =
    sample_id !== undefined && role === undefined && (epoch !== undefined || id === undefined)
  return isOfSample ? `${sample_id} ${epoch}` : undefined
}

function isEvent(item: unknown): item is { event: unknown } {
  return typeof item === 'object' && item !== null && 'event' in item
}
