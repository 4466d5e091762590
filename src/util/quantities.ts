/** A span of time as a person says it. */
export function age(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** A number of bytes in decimal units, as Docker prints them. */
export function bytes(count: number): string {
  const power = count < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(count) / 3))
  const value = count / 1000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`
}
