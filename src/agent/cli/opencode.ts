import type { Agent } from '../agent.ts'
import { cliAgent } from './cli-agent.ts'
import { jsonLines } from './json-lines.ts'
import type { NamedAgentOptions } from './named-agent.ts'

/** OpenCode (`opencode`, npm `opencode-ai`) without a person: https://opencode.ai/docs/cli */
export function openCode(options: NamedAgentOptions = {}): Agent {
  const { args = [], env, ...rest } = options
  return cliAgent({
    name: 'opencode',
    command: ({ model, prompt }) => [
      'opencode',
      'run',
      '--model',
      `belljar/${model}`,
      '--format',
      'json',
      ...args,
      prompt,
    ],
    env: ({ url, model }) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify(settings(url, model)),
      OPENCODE_DISABLE_AUTOUPDATE: 'true',
      ...env,
    }),
    parse: ({ stdout }) => {
      const parts = jsonLines(stdout).map(({ part }) => part as { type?: string; text?: string } | undefined)
      return parts.findLast((part) => part?.type === 'text')?.text ?? ''
    },
    ...rest,
  })
}

function settings(url: string, model: string): unknown {
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: `${url}/v1`, apiKey: 'belljar' },
    models: { [model]: { name: model, tool_call: true } },
  }
  return {
    provider: { belljar: provider },
    model: `belljar/${model}`,
    small_model: `belljar/${model}`,
    share: 'disabled',
  }
}
