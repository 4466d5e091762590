/** Whether a log that one version wrote may go on under another. */
export type VersionVerdict =
  | { readonly isAllowed: true; readonly warning?: string }
  | { readonly isAllowed: false; readonly why: string }

const RELEASE = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/

/**
 * The same text always fits, also of builds that are no release. Releases fit within their series: the same major number, below 1.0 the same
 * minor number too. Whatever is no release fits nothing else.
 */
export function versionVerdict(recorded: string, current: string): VersionVerdict {
  if (recorded !== '' && recorded === current) return { isAllowed: true }
  const [one, other] = [seriesOf(recorded), seriesOf(current)]
  if (one === undefined)
    return { isAllowed: false, why: `the version that wrote it ('${recorded}') is no release` }
  if (other === undefined) return { isAllowed: false, why: `this version ('${current}') is no release` }
  if (one !== other) return { isAllowed: false, why: `belljar ${recorded} wrote it, and this is ${current}` }
  return { isAllowed: true, warning: `the log was begun by belljar ${recorded} and goes on with ${current}` }
}

function seriesOf(version: string): string | undefined {
  const [, major, minor] = RELEASE.exec(version) ?? []
  if (major === undefined || version === '0.0.0') return undefined
  return major === '0' ? `0.${minor}` : major
}
