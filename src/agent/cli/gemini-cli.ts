import type { Agent } from '../agent.ts'
import { cliAgent } from './cli-agent.ts'
import type { NamedAgentOptions } from './named-agent.ts'

/** Gemini CLI (`gemini`, npm `@google/gemini-cli`) without a person: https://geminicli.com/docs/cli/headless */
export function geminiCli(options: NamedAgentOptions = {}): Agent {
  const { args = [], env, ...rest } = options
  return cliAgent({
    name: 'gemini-cli',
    model: 'gemini-2.5-pro',
    command: ({ model }) => ['gemini', '--yolo', '--output-format', 'json', '--model', model, ...args],
    input: ({ prompt }) => prompt,
    env: {
      GEMINI_DEFAULT_AUTH_TYPE: 'gemini-api-key',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_TELEMETRY_ENABLED: 'false',
      ...env,
    },
    parse: ({ stdout }) => {
      const start = stdout.indexOf('{')
      const { response = '' } = JSON.parse(stdout.slice(Math.max(0, start))) as { response?: string }
      return response
    },
    ...rest,
  })
}
