import type { Agent } from '../agent.ts'
import { cliAgent } from './cli-agent.ts'
import { jsonLines } from './json-lines.ts'
import type { NamedAgentOptions } from './named-agent.ts'

/** Codex (`codex`, npm `@openai/codex`) without a person: https://developers.openai.com/codex/noninteractive */
export function codex(options: NamedAgentOptions = {}): Agent {
  const { args = [], env = {}, ...rest } = options
  return cliAgent({
    name: 'codex',
    model: 'gpt-5',
    command: ({ model, url }) => [
      'codex',
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      '--json',
      '--model',
      model,
      ...settings(url),
      ...args,
      '-',
    ],
    input: ({ prompt }) => prompt,
    env,
    parse: ({ stdout }) => {
      const items = jsonLines(stdout).map(({ item }) => item as { type?: string; text?: string } | undefined)
      return items.findLast((item) => item?.type === 'agent_message')?.text ?? ''
    },
    ...rest,
  })
}

function settings(url: string): string[] {
  const provider = `{ name = "belljar", base_url = "${url}/v1", env_key = "OPENAI_API_KEY", wire_api = "responses" }`
  const values = ['model_provider="belljar"', `model_providers.belljar=${provider}`]
  return values.flatMap((value) => ['-c', value])
}
