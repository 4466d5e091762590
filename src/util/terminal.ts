const CONTROL = /(?![\t\n])[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Text that may come from a sandbox, made harmless for a terminal: control and direction characters become visible escapes. */
export function escapeText(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** As `escapeText`, on one line of at most so many characters. */
export function escapeLine(text: string, maxLength = 200): string {
  const line = escapeText(text).replaceAll(/[\t\n]+/g, ' ')
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line
}

/** Rows as text, columns aligned; the first row is the heading. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const [heading = [], ...body] = rows
  return [line(heading), widths.map((width) => '-'.repeat(width)).join('  '), ...body.map(line)].join('\n')
}

/** A word that a POSIX shell reads as this text. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
