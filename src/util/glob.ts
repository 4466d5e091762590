/** A pattern over a whole text: `*` is any text, `?` any character, `[a-c]` one of a set, `[!a-c]` one that is not in it. */
export function globPattern(glob: string): RegExp {
  const parts = glob.match(/\[!?\]?[^\]]+\]|[\s\S]/gu) ?? []
  return new RegExp(`^${parts.map(partPattern).join('')}$`, 'su')
}

function partPattern(part: string): string {
  if (part === '*') return '.*'
  if (part === '?') return '.'
  const set = /^\[(!?)([\s\S]+)\]$/u.exec(part)
  if (!set) return part.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`)
  const [, not = '', characters = ''] = set
  return `[${not === '' ? '' : '^'}${characters.replaceAll(/[\\\]^[]/gu, String.raw`\$&`)}]`
}
