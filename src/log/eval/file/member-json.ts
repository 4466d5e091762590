import { randomUUID } from 'node:crypto'

/** JSON in which numbers that are not finite stand bare, as Inspect writes and reads them. */
export function toMemberJson(value: unknown): string {
  const mark = randomUUID()
  let isMarked = false
  const json = JSON.stringify(value, (_key, item) => {
    if (typeof item !== 'number' || Number.isFinite(item)) return item
    isMarked = true
    return `${mark}${item}`
  })
  return isMarked ? json.replaceAll(new RegExp(`"${mark}(-?Infinity|NaN)"`, 'g'), '$1') : json
}
