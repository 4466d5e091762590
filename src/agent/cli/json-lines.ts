/** The objects among the lines of a program's output; other lines are passed over. */
export function jsonLines(text: string): Readonly<Record<string, unknown>>[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return []
    try {
      return [JSON.parse(line) as Readonly<Record<string, unknown>>]
    } catch {
      return []
    }
  })
}
