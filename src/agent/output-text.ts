import type { PartialOutput } from '../errors.ts'
import type { ExecResult } from '../sandbox/sandbox.ts'

/** How a command ended, in words: `exit code 1`, `killed by SIGKILL`, `could not start: ...`. */
export function endOf(result: ExecResult): string {
  if (result.launchError !== undefined) return `could not start: ${result.launchError.message}`
  return result.signal === null ? `exit code ${result.exitCode}` : `killed by ${result.signal}`
}

/** Both streams as one text: stdout, then stderr under a line of its own. */
export function outputText({ stdout, stderr }: Pick<PartialOutput, 'stdout' | 'stderr'>): string {
  if (stderr === '') return stdout
  const separator = stdout === '' || stdout.endsWith('\n') ? '' : '\n'
  return `${stdout}${separator}[stderr]\n${stderr}`
}

/** The last part of a command's output, for an error or an explanation. */
export function outputTail(output: Pick<PartialOutput, 'stdout' | 'stderr'>, maxCharacters = 2000): string {
  const text = outputText(output).trimEnd()
  return text.length <= maxCharacters ? text : `[...]${tail(text, maxCharacters)}`
}

/** The beginning and the end of a long text, with a notice between them of how much was left out. */
export function cappedText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text
  const half = Math.floor(maxCharacters / 2)
  const first = head(text, half)
  const last = tail(text, half)
  return `${first}\n[... ${text.length - first.length - last.length} characters left out ...]\n${last}`
}

/** Neither cut leaves half of a surrogate pair behind. */
function head(text: string, count: number): string {
  return isHighSurrogate(text.charCodeAt(count - 1)) ? text.slice(0, count - 1) : text.slice(0, count)
}

function tail(text: string, count: number): string {
  const start = text.length - count
  return isHighSurrogate(text.charCodeAt(start - 1)) ? text.slice(start + 1) : text.slice(start)
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
