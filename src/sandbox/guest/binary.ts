import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type GuestArchitecture = 'amd64' | 'arm64'

/** The Engine's and Node's names of an architecture; undefined where there is no guest for it. */
export function guestArchitecture(name: string): GuestArchitecture | undefined {
  if (name === 'amd64' || name === 'x64' || name === 'x86_64') return 'amd64'
  return name === 'arm64' || name === 'aarch64' ? 'arm64' : undefined
}

/** Where the guest, or another program for containers, was built to; undefined where it was not (no compiler, or none for that architecture). */
export function findGuestBinary(
  architecture: GuestArchitecture,
  program: 'guest' | 'egress' = 'guest',
): string | undefined {
  const path = join(packageRoot(), 'dist', program, `linux-${architecture}`, `belljar-${program}`)
  return existsSync(path) ? path : undefined
}

/** Folder of the package's own package.json, wherever the build has put this module. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder)
  return folder
}
