import { endOf, outputTail } from '../../agent/output-text.ts'
import { BelljarError, ExecTimeoutError } from '../../errors.ts'
import { runScript } from '../../sandbox/run-script.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'

const SETUP_TIMEOUT_MS = 300_000

/** Runs a sample's setup, once. @throws BelljarError `setup-failed` with the end of what it printed */
export async function runSetup(
  sandbox: Sandbox,
  script: string,
  options: { timeoutMs?: number; signal: AbortSignal },
): Promise<void> {
  const { timeoutMs = SETUP_TIMEOUT_MS, signal } = options
  const fail = (what: string, output: string) =>
    new BelljarError('setup-failed', output === '' ? what : `${what}:\n${output}`)
  try {
    const result = await runScript(sandbox, script, { name: 'setup', timeoutMs, signal })
    if (result.exitCode !== 0) throw fail(`setup failed (${endOf(result)})`, outputTail(result))
  } catch (error) {
    if (error instanceof ExecTimeoutError)
      throw fail(`setup was stopped after ${timeoutMs} ms`, outputTail(error.partial))
    throw error
  }
}
