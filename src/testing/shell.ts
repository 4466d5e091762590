import { randomInt } from 'node:crypto'
import type { ExecOptions, ExecResult, Sandbox } from '../sandbox/sandbox.ts'
import { expectSuccess, expectTrue } from './assertions.ts'

/** Longer than anything takes that has not hung. */
const PATIENCE_MS = 30_000
const POLL_MS = 50

export const MIB = 1024 * 1024

/** Runs a script; `$1`, `$2`.. are `args`. */
export function sh(
  sandbox: Sandbox,
  script: string,
  options: ExecOptions & { args?: readonly string[] } = {},
): Promise<ExecResult> {
  const { args = [], ...rest } = options
  return sandbox.exec(['sh', '-c', script, 'sh', ...args], rest)
}

/** Standard output of a script that must succeed, without the last newline. */
export async function output(
  sandbox: Sandbox,
  script: string,
  options: Parameters<typeof sh>[2] = {},
): Promise<string> {
  return expectSuccess(await sh(sandbox, script, options)).stdout.replace(/\n$/, '')
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Waits until it holds; fails when it never does. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (performance.now() < end) {
    if (await holds()) return
    await pause(POLL_MS)
  }
  expectTrue(false, `that ${what} within ${PATIENCE_MS / 1000} s`)
}

/** A call that has not settled by then has hung. */
export async function settles<T>(what: string, call: Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} did not settle within ${patienceMs / 1000} s`)),
      patienceMs,
    )
  })
  return Promise.race([call, late]).finally(() => clearTimeout(timer))
}

/** A sleep that is told from all others by its length; `count` reads /proc itself, as `ps` may be missing. */
export class MarkedSleep {
  readonly #seconds = String(randomInt(100_000_000, 999_999_999))

  get command(): string {
    return `sleep ${this.#seconds}`
  }

  async count(sandbox: Sandbox): Promise<number> {
    const pattern = `sleep ${this.#seconds.slice(0, -1)}[${this.#seconds.slice(-1)}] $`
    const script = `for p in /proc/[0-9]*; do tr '\\0' ' ' < "$p/cmdline" && echo; done 2>/dev/null | grep -c -- "$1"; true`
    return Number((await sh(sandbox, script, { args: [pattern] })).stdout)
  }

  async appears(sandbox: Sandbox, count = 1): Promise<void> {
    await eventually(`${count} of '${this.command}' run`, async () => (await this.count(sandbox)) >= count)
  }
}
