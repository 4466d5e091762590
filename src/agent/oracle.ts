import { BelljarError, ConfigError } from '../errors.ts'
import { runScript } from '../sandbox/run-script.ts'
import type { Agent } from './agent.ts'
import { endOf, outputTail } from './output-text.ts'

export interface OracleOptions {
  /** Deadline of the solution in milliseconds; none means only the sample's own limits. */
  readonly timeoutMs?: number
}

/**
 * Runs the sample's `solution` in the default service; its standard output becomes the output. It proves that a sample can be solved,
 * so a sample without a solution (ConfigError) and a solution that fails (BelljarError `solution-failed`) are errors.
 */
export function oracle(options: OracleOptions = {}): Agent {
  return async function oracle({ sample, sandbox, signal }) {
    if (sample.solution === undefined) {
      throw new ConfigError('has no solution for the oracle agent to run', { where: `sample '${sample.id}'` })
    }
    const { timeoutMs } = options
    const result = await runScript(sandbox, sample.solution, { name: 'solution', timeoutMs, signal })
    if (result.exitCode !== 0) {
      const message = `the solution of sample '${sample.id}' failed (${endOf(result)})`
      throw new BelljarError('solution-failed', [message, outputTail(result)].filter(Boolean).join(':\n'))
    }
    return result.stdout
  }
}
