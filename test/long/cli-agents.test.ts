import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Agent } from '../../src/agent/agent.ts'
import { aider } from '../../src/agent/cli/aider.ts'
import { claudeCode } from '../../src/agent/cli/claude-code.ts'
import { codex } from '../../src/agent/cli/codex.ts'
import { geminiCli } from '../../src/agent/cli/gemini-cli.ts'
import { miniSweAgent } from '../../src/agent/cli/mini-swe-agent.ts'
import type { NamedAgentOptions } from '../../src/agent/cli/named-agent.ts'
import { openCode } from '../../src/agent/cli/opencode.ts'
import type { ModelRequest, ToolDescription } from '../../src/agent/model.ts'
import { type ScriptedOutput, scriptedModel } from '../../src/agent/scripted-model.ts'
import { agentContext } from '../support/agent-context.ts'
import { tempDir } from '../support/temp-dir.ts'
import { runGuest } from '../unit/sandbox/guest/guest-process.ts'

const run = promisify(execFile)
const WORK = 'echo made by the agent > made.txt'

let folder: Awaited<ReturnType<typeof tempDir>>
beforeAll(async () => {
  folder = await tempDir()
})
afterAll(() => folder[Symbol.asyncDispose]())

/** A command to a tool that runs commands, however an agent calls it. */
function commandFor({ name, parameters }: ToolDescription): ScriptedOutput | undefined {
  if (!/^(bash|shell|exec_command|shell_command|run_shell_command)$/i.test(name)) return undefined
  const properties = (parameters.properties ?? {}) as Record<string, { type?: string }>
  const key = ['command', 'cmd'].find((one) => one in properties) ?? 'command'
  const value = properties[key]?.type === 'array' ? ['sh', '-c', WORK] : WORK
  return { toolCalls: [{ name, arguments: { [key]: value, description: 'make a file', timeout: 60_000 } }] }
}

/** Does the work by the first tool that it can, in words where an agent reads commands from text, and then says so. */
function worker({ messages, tools }: ModelRequest): ScriptedOutput {
  const isDone = messages.some(({ role }) => role === 'tool')
  if (isDone)
    return tools.some(({ name }) => name === 'bash') ? submission(messages) : { text: 'All is done.' }
  for (const tool of tools) {
    const call = commandFor(tool)
    if (call) return call
  }
  return { text: 'A title' }
}

function submission(messages: ModelRequest['messages']): ScriptedOutput {
  const isMini = JSON.stringify(messages).includes('COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT')
  if (!isMini) return { text: 'All is done.' }
  const command = 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT'
  return { text: 'All is done.', toolCalls: [{ name: 'bash', arguments: { command } }] }
}

interface Case {
  readonly agent: (options: NamedAgentOptions) => Agent
  readonly npm?: string
  readonly pypi?: string
}

const CASES: Readonly<Record<string, Case>> = {
  claude: { agent: claudeCode, npm: '@anthropic-ai/claude-code' },
  codex: { agent: codex, npm: '@openai/codex' },
  gemini: { agent: geminiCli, npm: '@google/gemini-cli' },
  opencode: { agent: openCode, npm: 'opencode-ai' },
  mini: { agent: miniSweAgent, pypi: 'mini-swe-agent' },
  aider: { agent: aider, pypi: 'aider-chat' },
}

/** Folder of its programs; undefined where it cannot be installed here. */
async function install({ npm, pypi }: Case): Promise<string | undefined> {
  const given = process.env.BELLJAR_CLI_AGENTS
  if (given !== undefined) return given
  const prefix = join(folder.path, (npm ?? pypi ?? '').replaceAll('/', '-'))
  try {
    if (npm !== undefined)
      await run('npm', ['install', '--global', '--no-audit', '--no-fund', '--prefix', prefix, npm])
    else {
      await run('python3', ['-m', 'venv', prefix])
      await run(join(prefix, 'bin/pip'), ['install', '--quiet', pypi ?? ''])
    }
    return join(prefix, 'bin')
  } catch {
    return undefined
  }
}

test.each(Object.entries(CASES))(
  '%s works on its own through the bridge',
  { timeout: 900_000 },
  async (name, given) => {
    const bin = await install(given)
    if (bin === undefined || !existsSync(join(bin, name))) {
      process.stderr.write(`${name}: NOT tried, it cannot be installed here\n`)
      return
    }
    await using guest = await runGuest()
    await mkdir(join(guest.folder, 'home'))
    const context = agentContext({
      sample: { input: 'Make the file made.txt, then say that all is done.' },
      model: scriptedModel(worker),
      limits: { turns: 20 },
      signal: AbortSignal.timeout(180_000),
      sandbox: guest.sandbox,
    })
    const env = { HOME: join(guest.folder, 'home'), PWD: guest.folder, PATH: `${bin}:${process.env.PATH}` }
    const output = await given.agent({ env })(context)
    const models = context.events.filter(({ type }) => type === 'model-output')
    expect(models.length).toBeGreaterThan(0)
    if (name !== 'aider') expect(await guest.sandbox.readText('made.txt')).toBe('made by the agent\n')
    if (name !== 'mini' && name !== 'aider') expect(output).toBe('All is done.')
  },
)
