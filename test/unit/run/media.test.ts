import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { enqueueSample, type Input, materializeMedia, SampleSource } from 'belljar'
import { describe, expect, it } from 'vitest'
import type { Agent } from '../../../src/agent/agent.ts'
import { toolLoop } from '../../../src/agent/loop/tool-loop.ts'
import type { Model } from '../../../src/agent/model.ts'
import { runAgent } from '../../../src/agent/run-agent.ts'
import type { Content } from '../../../src/sample/content.ts'
import { fakeRun, fakeTask, sample, status } from '../../support/fake-run.ts'
import { PIXEL } from '../../support/log-kinds.ts'
import { tempDir } from '../../support/temp-dir.ts'

const text = { type: 'text', text: 'what is this?' } as const
const pixel = { type: 'image', data: PIXEL, mediaType: 'image/png' } as const

/** An agent that keeps what it was given. */
function keeper(): { agent: Agent; seen: Content[] } {
  const seen: Content[] = []
  const agent: Agent = async ({ sample: { input, content } }) => {
    seen.push(content)
    return input
  }
  return { agent, seen }
}

describe('media in an input', () => {
  it('that the seed names by path are there before the agent, and in the record', async () => {
    await using directory = await tempDir()
    await writeFile(join(directory.path, 'a.png'), Buffer.from(PIXEL, 'base64'))
    const { agent, seen } = keeper()
    const input: Input = [text, { type: 'image', path: join(directory.path, 'a.png') }]
    const run = await fakeRun(fakeTask({ dataset: [{ input }], agent, sandbox: false }))
    expect(seen).toEqual([[text, pixel]])
    expect(run.records[0]).toMatchObject({
      status: 'success',
      input: 'what is this?\n(image)',
      output: 'what is this?\n(image)',
      inputParts: [text, pixel],
    })
    expect(run.log.find(({ type }) => type === 'sample')).toMatchObject({
      input: 'what is this?\n(image)',
      inputParts: [text, pixel],
    })
  })

  it('are what toolLoop shows its model, in a sub-agent too', async () => {
    const heard: unknown[] = []
    const model: Model = {
      name: 'listener',
      generate: async ({ messages }) => {
        heard.push(messages.at(-1)?.content)
        return {
          message: { role: 'assistant', content: 'a pixel' },
          stopReason: 'stop',
          usage: { inputTokens: 1, outputTokens: 1 },
        }
      },
    }
    const input: Input = [text, { type: 'image', data: PIXEL, mediaType: 'image/png' }]
    const agent = toolLoop({ tools: [] })
    const outer: Agent = async (context) => {
      await runAgent(agent, context)
      await runAgent(agent, context, { input: 'and this?' })
    }
    await fakeRun([fakeTask({ name: 'one', dataset: [{ input }], agent })], { model })
    await fakeRun([fakeTask({ name: 'two', dataset: [{ input }], agent: outer })], { model })
    expect(heard).toEqual([[text, pixel], [text, pixel], 'and this?'])
  })

  it('that are not there fail their sample, which no agent sees', async () => {
    const { agent, seen } = keeper()
    const dataset = [{ input: [{ type: 'image', path: '/nowhere/a.png' }] as const }]
    const run = await fakeRun(fakeTask({ dataset, agent }))
    expect(run.records[0]?.error).toMatchObject({
      kind: 'files',
      message: expect.stringContaining('/nowhere/a.png'),
    })
    expect(seen).toEqual([])
  })

  it.each([
    ['path', { type: 'image', path: '/etc/hostname' }],
    ['url', { type: 'image', url: 'http://127.0.0.1:1/a.png' }],
  ] as const)(
    'that an added sample names by %s are refused, with the way that there is',
    async (kind, part) => {
      const dataset = SampleSource.fromSamples([sample('a')], {
        sampleComplete: async ({ input }) => (input === 'a' ? [{ input: [text, part] }] : null),
      })
      const run = await fakeRun(fakeTask({ dataset }))
      expect(status(run)).toBe('error')
      const { message } = run.result.evals[0]!.footer.error!
      expect(message).toContain(`part 2 of the input of an added sample names a ${kind}`)
      expect(message).toContain('await materializeMedia(')
    },
  )

  it('of an added sample come inline, or through materializeMedia by the code of the task', async () => {
    await using directory = await tempDir()
    const path = join(directory.path, 'a.png')
    await writeFile(path, Buffer.from(PIXEL, 'base64'))
    const { agent, seen } = keeper()
    const dataset = SampleSource.fromSamples([sample('a')], {
      sampleComplete: async ({ input }) => {
        if (input !== 'a') return null
        enqueueSample({ input: [await materializeMedia({ type: 'image', path })] })
        return [{ input: [text, { type: 'image', data: `data:image/png;base64,${PIXEL}` }] }]
      },
    })
    const run = await fakeRun(fakeTask({ dataset, agent, maxSamples: 1 }))
    expect(status(run)).toBe('success')
    expect(seen).toEqual(['a', [pixel], [text, pixel]])
  })

  it('may be named by what is added where the task allows it', async () => {
    await using directory = await tempDir()
    const path = join(directory.path, 'a.png')
    await writeFile(path, Buffer.from(PIXEL, 'base64'))
    const { agent, seen } = keeper()
    const dataset = SampleSource.fromSamples([sample('a')], {
      sampleComplete: async ({ input }) => (input === 'a' ? [{ input: [{ type: 'image', path }] }] : null),
    })
    await fakeRun(fakeTask({ dataset, agent, allow: ['added-paths'] }))
    expect(seen).toEqual(['a', [pixel]])
  })

  it.each([
    [[], 'input'],
    [[{ type: 'image' }], 'exactly one of path, url and data'],
    [[{ type: 'image', path: 'a', data: 'b' }], 'exactly one of path, url and data'],
    [[{ type: 'picture', path: 'a' }], 'image | audio | video | document'],
  ])('that are %j are refused before the run', async (input, message) => {
    const run = fakeRun(fakeTask({ dataset: [{ input: input as never }] }))
    await expect(run).rejects.toThrow(message)
  })
})
