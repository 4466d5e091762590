import { readdirSync, readFileSync } from 'node:fs'

function stat(pid: string): { name: string; state: string; parent: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const end = text.lastIndexOf(')')
    const [state = '', parent] = text.slice(end + 2).split(' ')
    return { name: text.slice(text.indexOf('(') + 1, end), state, parent: Number(parent) }
  } catch {
    return undefined
  }
}

/** Process ids of the reapers that a process has started. */
export function reapersOf(parent: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return all
    .filter((pid) => {
      const facts = stat(pid)
      return facts?.parent === parent && facts.name === 'belljar-reaper'
    })
    .map(Number)
}

export function isRunning(pid: number): boolean {
  const facts = stat(String(pid))
  return facts !== undefined && facts.state !== 'Z'
}

/** Waits until it holds; a test that waits for ever has failed. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 100))
}
