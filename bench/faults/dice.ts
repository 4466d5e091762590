/** Numbers from 0 up to 1, the same for the same words: FNV-1a, then mulberry32. */
export function dice(...words: readonly (string | number)[]): () => number {
  let state = 0x811c9dc5
  for (const character of words.join('\u0000')) {
    state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export function pick<T>(roll: () => number, from: readonly T[]): T {
  return from[Math.floor(roll() * from.length)] as T
}
