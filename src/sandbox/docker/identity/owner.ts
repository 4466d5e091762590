import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'

/** When this process started, in clock ticks since boot where /proc says so: tells apart two processes with one pid. */
function processStart(): string {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
  } catch {
    return String(Math.round(Date.now() / 1000 - process.uptime()))
  }
}

let known: string | undefined

/** `host:pid:start` of this process. */
export function owner(): string {
  known ??= `${hostname()}:${process.pid}:${processStart()}`
  return known
}
