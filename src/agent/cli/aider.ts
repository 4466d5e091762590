import type { Agent } from '../agent.ts'
import { cliAgent } from './cli-agent.ts'
import type { NamedAgentOptions } from './named-agent.ts'

/** Aider (`aider`, PyPI `aider-chat`) without a person: https://aider.chat/docs/scripting.html */
export function aider(options: NamedAgentOptions = {}): Agent {
  const { args = [], env, ...rest } = options
  return cliAgent({
    name: 'aider',
    command: ({ model, prompt }) => [
      'aider',
      '--yes-always',
      '--no-show-model-warnings',
      '--no-check-update',
      '--no-analytics',
      '--no-pretty',
      '--no-stream',
      '--no-gitignore',
      '--model',
      `openai/${model}`,
      ...args,
      '--message',
      prompt,
    ],
    env: { AIDER_DISABLE_PLAYWRIGHT: 'true', ...env },
    ...rest,
  })
}
