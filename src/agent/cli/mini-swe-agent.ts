import type { Agent } from '../agent.ts'
import { cliAgent } from './cli-agent.ts'
import type { NamedAgentOptions } from './named-agent.ts'

/** mini-swe-agent (`mini`, PyPI `mini-swe-agent`) without a person: https://mini-swe-agent.com/latest/usage/mini */
export function miniSweAgent(options: NamedAgentOptions = {}): Agent {
  const { args = [], env, ...rest } = options
  return cliAgent({
    name: 'mini-swe-agent',
    command: ({ model, prompt }) => [
      'mini',
      '--yolo',
      '--exit-immediately',
      '--cost-limit',
      '0',
      '--model',
      `openai/${model}`,
      ...args,
      '--task',
      prompt,
    ],
    env: {
      MSWEA_CONFIGURED: 'true',
      MSWEA_SILENT_STARTUP: '1',
      MSWEA_COST_TRACKING: 'ignore_errors',
      ...env,
    },
    ...rest,
  })
}
