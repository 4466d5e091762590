import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ModelCalls } from '../../../../src/agent/calls/model-calls.ts'
import { ResponseCache } from '../../../../src/agent/calls/response-cache.ts'
import type { Model, ModelRequest } from '../../../../src/agent/model.ts'
import { scriptedModel } from '../../../../src/agent/scripted-model.ts'
import { WorkClock } from '../../../../src/limit/work-clock.ts'
import { tempDir } from '../../../support/temp-dir.ts'

const request: ModelRequest = { messages: [{ role: 'user', content: 'hi' }], tools: [] }
const usage = { inputTokens: 7, outputTokens: 3 }
const numbered = (): Model => scriptedModel((_request, call) => ({ text: `answer ${call}`, usage }))

async function files(directory: string): Promise<string[]> {
  const all = await readdir(directory, { recursive: true, withFileTypes: true })
  return all.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

/** What calls through a cache in a folder of its own answered, and what is in it. */
async function withCache(
  work: (
    ask: (more?: Partial<ModelRequest>, epoch?: number, model?: Model) => Promise<string>,
  ) => Promise<void>,
  more: { maxAgeMs?: number; now?: () => number } = {},
) {
  await using directory = await tempDir()
  const calls = new ModelCalls({ cache: new ResponseCache({ directory: directory.path, ...more }) })
  const own = numbered()
  await work(async (given = {}, epoch = 1, model = own) => {
    const caller = { epoch, clock: new WorkClock(), check: () => undefined, onRetry: () => undefined }
    const { message, cache } = await calls.call(model, { ...request, ...given }, caller)
    return `${message.content} ${cache ?? 'apart'}`
  })
  return { directory: directory.path, found: await files(directory.path).catch(() => []) }
}

describe('a response cache', () => {
  it('gives the same answer to the same call, whatever else about it differs', async () => {
    await withCache(async (ask) => {
      expect(await ask()).toBe('answer 0 write')
      expect(await ask()).toBe('answer 0 read')
      expect(await ask({ config: { maxRetries: 3, attemptTimeoutMs: 5000 }, toolChoice: 'auto' })).toBe(
        'answer 0 read',
      )
      expect(await ask({ messages: [{ content: 'hi', role: 'user' }] })).toBe('answer 0 read')
    })
  })

  it('asks again when messages, tools, settings, epoch or model differ', async () => {
    const tools = [{ name: 't', description: '', parameters: {} }]
    await withCache(async (ask) => {
      await ask()
      const answers = [
        await ask({ messages: [{ role: 'user', content: 'hi!' }] }),
        await ask({ tools }),
        await ask({ tools, toolChoice: 'any' }),
        await ask({ config: { temperature: 0 } }),
        await ask({}, 2),
        await ask({}, 1, { ...numbered(), args: { api: 'chat' } }),
      ]
      expect(answers).toEqual([1, 2, 3, 4, 5, 0].map((call) => `answer ${call} write`))
    })
  })

  it('is passed by where a call says so', async () => {
    const { found } = await withCache(async (ask) => {
      expect(await ask({ config: { cache: false } })).toBe('answer 0 apart')
      expect(await ask({ config: { cache: false } })).toBe('answer 1 apart')
    })
    expect(found).toEqual([])
  })

  it('forgets what is too old', async () => {
    let now = 1000
    await withCache(
      async (ask) => {
        await ask()
        now += 500
        expect(await ask()).toBe('answer 0 read')
        now += 1
        expect(await ask()).toBe('answer 1 write')
      },
      { maxAgeMs: 500, now: () => now },
    )
  })

  it('does not read what is half there, of another version, or no answer', async () => {
    await using directory = await tempDir()
    const cache = new ResponseCache({ directory: directory.path })
    const answer = await numbered().generate(request)
    const key = cache.keyOf(numbered(), request, 1)
    await cache.write(key, answer)
    expect(await cache.read(key)).toEqual(answer)
    const [path = ''] = await files(directory.path)
    const text = await readFile(path, 'utf8')
    const { version, ...other } = JSON.parse(text) as { version: number }
    for (const broken of [text.slice(0, -5), '', '{}', JSON.stringify({ ...other, version: version + 1 })]) {
      await writeFile(path, broken)
      expect(await cache.read(key)).toBeUndefined()
    }
  })

  it('is whole after many write the same at once, and leaves nothing else', async () => {
    await using directory = await tempDir()
    const cache = new ResponseCache({ directory: directory.path })
    const answer = await numbered().generate(request)
    const key = cache.keyOf(numbered(), request, 1)
    await Promise.all(Array.from({ length: 30 }, () => cache.write(key, answer)))
    expect(await files(directory.path)).toHaveLength(1)
    expect(await cache.read(key)).toEqual(answer)
  })
})
