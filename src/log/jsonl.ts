/** One line of JSON. Bytes become base64 text and big integers decimal text, as JSON has neither. @throws TypeError on a cycle */
export function toJsonLine(value: unknown): string {
  return `${JSON.stringify(value, plain)}\n`
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  return value
}
