import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Which process made an object. Namespace and boot say where its pid means anything; empty where there is no /proc. */
export interface OwnerFacts {
  readonly host: string
  readonly pid: number
  /** Clock ticks since boot: tells apart two processes with one pid. */
  readonly start: string
  readonly pidNamespace: string
  readonly boot: string
}

function firstOf(read: () => string, fallback: string): string {
  try {
    return read()
  } catch {
    return fallback
  }
}

/** State and start time of a process; undefined where it cannot be read. */
export function processStat(pid: number | 'self'): { state: string; start: string } | undefined {
  const stat = firstOf(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, start] = [fields[0], fields[19]]
  return state && start ? { state, start } : undefined
}

let known: OwnerFacts | undefined

/** This process. */
export function ownFacts(): OwnerFacts {
  known ??= {
    host: hostname(),
    pid: process.pid,
    start: processStat('self')?.start ?? String(Math.round(Date.now() / 1000 - process.uptime())),
    pidNamespace: firstOf(() => readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, ''), ''),
    boot: firstOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), ''),
  }
  return known
}

/** `host:pid:start:namespace:boot` of this process. */
export function owner(): string {
  const { host, pid, start, pidNamespace, boot } = ownFacts()
  return [host, pid, start, pidNamespace, boot].join(':')
}

/** What an owner label says; undefined when it is none. */
export function parseOwner(label: string | undefined): OwnerFacts | undefined {
  const [host, pid, start, pidNamespace = '', boot = ''] = (label ?? '').split(':')
  if (!host || !start || !Number.isInteger(Number(pid)) || Number(pid) < 1) return undefined
  return { host, pid: Number(pid), start, pidNamespace, boot }
}
