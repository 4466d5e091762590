import type { Agent } from '../agent.ts'
import { cliAgent } from './cli-agent.ts'
import type { NamedAgentOptions } from './named-agent.ts'

/** With another address it looks for a gateway of Google's unless the user's settings say that a key is used. */
const SETTINGS = JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } })
const START = `file="$HOME/.gemini/settings.json"
[ -e "$file" ] || { mkdir -p "$HOME/.gemini" && printf %s '${SETTINGS}' > "$file"; }
exec gemini "$@"`

/** Gemini CLI (`gemini`, npm `@google/gemini-cli`) without a person: https://geminicli.com/docs/cli/headless */
export function geminiCli(options: NamedAgentOptions = {}): Agent {
  const { args = [], env, ...rest } = options
  return cliAgent({
    name: 'gemini-cli',
    model: 'gemini-2.5-pro',
    command: ({ model }) => [
      'sh',
      '-c',
      START,
      'gemini',
      '--yolo',
      '--output-format',
      'json',
      '--model',
      model,
      ...args,
    ],
    input: ({ prompt }) => prompt,
    env: {
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
