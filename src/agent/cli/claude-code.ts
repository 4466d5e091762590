import type { Agent } from '../agent.ts'
import { cliAgent } from './cli-agent.ts'
import { jsonLines } from './json-lines.ts'
import type { NamedAgentOptions } from './named-agent.ts'

/** Claude Code (`claude`, npm `@anthropic-ai/claude-code`) without a person: https://docs.anthropic.com/en/docs/claude-code/cli-reference */
export function claudeCode(options: NamedAgentOptions = {}): Agent {
  const { args = [], env, ...rest } = options
  return cliAgent({
    name: 'claude-code',
    model: 'claude-sonnet-4-5',
    command: ({ model }) => [
      'claude',
      '--print',
      '--output-format',
      'stream-json',
      '--verbose',
      '--dangerously-skip-permissions',
      '--model',
      model,
      ...args,
    ],
    input: ({ prompt }) => prompt,
    env: ({ model }) => ({
      ANTHROPIC_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      IS_SANDBOX: '1', // else it does not run as root without asking
      ...env,
    }),
    parse: ({ stdout }) => {
      const results = jsonLines(stdout).filter(({ type }) => type === 'result')
      return String(results.at(-1)?.result ?? '')
    },
    ...rest,
  })
}
