const INTEGER = String.raw`\d{1,3}(?:,\d{3})+(?!\d)|\d+`
const NUMBER = String.raw`([-+]?)\p{Sc}?(?:(${INTEGER})(?:\.(\d+))?|\.(\d+))(?:[eE]([-+]?\d+))?`
/** Not within a word such as `v2`, nor one of more than two parts such as `1.2.3`. */
const NUMBER_IN_TEXT = new RegExp(String.raw`(?<![\p{L}\p{N}_.])${NUMBER}(?!\.?\d)`, 'gu')
const NUMBER_ALONE = new RegExp(String.raw`^${NUMBER}\s*%?\.?$`, 'u')

/** The numbers in a text as they stand there: sign, currency, thousands commas, fraction, exponent. */
export function numbersIn(text: string): string[] {
  return plainSigns(text).match(NUMBER_IN_TEXT) ?? []
}

/** One form for all ways to write one number, exact at any length: `$1,000.50` is `10005e-1`. undefined for what is no number. */
export function canonicalNumber(text: string): string | undefined {
  const parts = NUMBER_ALONE.exec(plainSigns(text).trim())
  if (parts === null) return undefined
  const [, sign, integer = '', fraction = parts[4] ?? '', , exponent = '0'] = parts
  const digits = `${integer.replaceAll(',', '')}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  const power = Number(exponent) - fraction.length + digits.length - significant.length
  return `${sign === '-' ? '-' : ''}${significant}e${power}`
}

/** Typesetters' minus sign. */
function plainSigns(text: string): string {
  return text.replaceAll('\u2212', '-')
}
