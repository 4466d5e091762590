import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type CliAgentOptions, cliAgent } from '../../../../src/agent/cli/cli-agent.ts'
import { scriptedModel } from '../../../../src/agent/scripted-model.ts'
import { agentContext, type TestContextOptions } from '../../../support/agent-context.ts'
import { hasGuest, runGuest } from '../../sandbox/guest/guest-process.ts'

const CLI = fileURLToPath(new URL('../../../support/stand-in/cli.mjs', import.meta.url))
const standIn = (prompt: string) => [process.execPath, CLI, 'openai-chat', prompt]
/** Found again among all processes of this host. */
const SLEEP = `sleep 600.${process.pid}`
const sh = (script: string) => ['sh', '-c', script]

async function run(options: Partial<CliAgentOptions>, given: TestContextOptions = {}) {
  await using guest = await runGuest()
  const context = agentContext({ model: scriptedModel([]), ...given, sandbox: guest.sandbox })
  const agent = cliAgent({ name: 'stand-in', command: ({ prompt }) => standIn(prompt), ...options })
  const outcome = await agent(context).then(
    (output) => ({ output }),
    (error: Error & { code?: string }) => ({ error }),
  )
  const running = await guest.sandbox.exec(['pgrep', '-fc', `^${SLEEP}$`])
  return { ...outcome, context, running: running.stdout }
}

describe.skipIf(!hasGuest)('an agent that is a program in the sandbox', () => {
  it('has the prompt, its files and variables, asks the model, and its output is in the log', {
    timeout: 30_000,
  }, async () => {
    const outcome = await run(
      {
        install: 'echo installed > here',
        files: { 'config/agent.json': '{}' },
        env: { GREETING: 'hello' },
        command: ({ prompt, url, model }) =>
          sh(
            `cat here config/agent.json; echo $GREETING ${url} ${model} >&2; exec "$0" "$1" openai-chat "${prompt}"`,
          ).concat(process.execPath, CLI),
        parse: ({ stdout, stderr, exitCode }) => `${stdout}${exitCode} ${stderr.replace(/\d+/g, 'N')}`,
      },
      { model: scriptedModel([{ text: 'forty-two' }]) },
    )
    const { context } = outcome
    expect(outcome).toMatchObject({
      output: 'installed\n{}forty-two\n0 hello http://N.N.N.N:N belljar\n',
    })
    expect(context.state.messages.map(({ content }) => content)).toEqual([
      'You are a careful assistant.',
      'What is six times seven?',
      'forty-two',
    ])
    const shown = context.events.filter(({ type }) => type === 'info')
    expect(shown).toContainEqual(
      expect.objectContaining({
        source: 'stand-in',
        data: { stream: 'stderr', text: expect.stringMatching(/^hello/) },
      }),
    )
  })

  it('takes its input on stdin, and a program that reads none of it is no error', async () => {
    expect(await run({ command: ['cat'], input: ({ prompt }) => prompt })).toMatchObject({
      output: 'What is six times seven?',
    })
    expect(await run({ command: ['true'], input: 'x'.repeat(1_000_000) })).toMatchObject({ output: '' })
  })

  it('fails with its program, and says how; some exit codes may be none', async () => {
    const failing = sh('echo so far; echo why >&2; exit 3')
    const { error } = (await run({ command: failing })) as { error: Error }
    expect(error).toMatchObject({ code: 'agent-failed' })
    expect(error.message).toBe("'stand-in' failed (exit code 3):\nso far\n[stderr]\nwhy")
    expect(await run({ command: failing, acceptedExitCodes: [0, 3] })).toMatchObject({ output: 'so far' })
    expect(await run({ command: ['no-such-agent'] })).toMatchObject({
      error: { code: 'config', message: expect.stringContaining('`install`') },
    })
    expect(await run({ install: 'echo no room; exit 1' })).toMatchObject({
      error: { code: 'agent-install-failed', message: expect.stringContaining('no room') },
    })
  })

  it('is killed with all that it started when a limit is reached, which is what it ends with', {
    timeout: 30_000,
  }, async () => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'again' }] })
    const ask = `const ask = () => fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST', body: '${body}' }).then(ask); ask()`
    const asks = sh(`${SLEEP} & exec "$0" -e "$1"`).concat(process.execPath, ask)
    const model = scriptedModel(() => ({ text: 'no' }))
    const { error, running } = (await run({ command: asks }, { model, limits: { turns: 2 } })) as {
      error: Error
      running: string
    }
    expect(error).toMatchObject({ code: 'limit-exceeded', type: 'turn', limit: 2 })
    expect(running).toBe('0\n')
  })

  it('ends with its sample', async () => {
    const controller = new AbortController()
    const stopped = new Error('stopped by an operator')
    setTimeout(() => controller.abort(stopped), 300)
    expect(await run({ command: ['sleep', '600'] }, { signal: controller.signal })).toMatchObject({
      error: stopped,
    })
  })
})
