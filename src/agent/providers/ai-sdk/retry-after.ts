/** How long a provider asks to wait, in milliseconds. Headers: `retry-after-ms` (OpenAI, Azure), `retry-after` in seconds or as a date (RFC 9110, 10.2.3). */
export function retryAfterMs(
  headers: Readonly<Record<string, string | undefined>>,
  now: () => number = Date.now,
): number | undefined {
  const milliseconds = positive(headers['retry-after-ms'])
  if (milliseconds !== undefined) return milliseconds
  const after = headers['retry-after']
  if (after === undefined) return undefined
  const seconds = positive(after)
  if (seconds !== undefined) return seconds * 1000
  // Bare numbers are dates to JavaScript as well.
  const date = /[a-z]/i.test(after) ? Date.parse(after) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now())
}

function positive(text: string | undefined): number | undefined {
  const number = Number(text)
  return text !== undefined && text.trim() !== '' && Number.isFinite(number) && number >= 0
    ? number
    : undefined
}
