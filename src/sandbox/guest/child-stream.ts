import type { ChildProcess } from 'node:child_process'
import { Duplex } from 'node:stream'

/** stdin and stdout of a guest that runs as a process of this host, as one stream. */
export function childStream(child: ChildProcess): Duplex {
  if (!child.stdin || !child.stdout) throw new TypeError("expected a child with stdio 'pipe'")
  return Duplex.from({ readable: child.stdout, writable: child.stdin })
}
