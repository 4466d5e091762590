import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { ConfigError, errorMessage } from '../../errors.ts'
import type { GenerateConfig, Model, ModelOutput, ModelRequest } from '../model.ts'

/** Entries of another version are not read. */
const VERSION = 1

export interface ResponseCacheOptions {
  readonly directory: string
  /** Older entries are not read (default: a week). */
  readonly maxAgeMs?: number
  readonly now?: () => number
}

const WEEK_MS = 7 * 24 * 3_600_000

const entrySchema = z.object({
  version: z.literal(VERSION),
  createdMs: z.number(),
  output: z.looseObject({
    message: z.looseObject({ role: z.literal('assistant') }),
    stopReason: z.string(),
    usage: z.looseObject({ inputTokens: z.number(), outputTokens: z.number() }),
  }),
})

/** Answers of models on disk, a file each: by model, its arguments, messages, tools, settings and epoch. */
export class ResponseCache {
  readonly #directory: string
  readonly #maxAgeMs: number
  readonly #now: () => number

  constructor({ directory, maxAgeMs = WEEK_MS, now = Date.now }: ResponseCacheOptions) {
    this.#directory = directory
    this.#maxAgeMs = maxAgeMs
    this.#now = now
  }

  keyOf(model: Model, request: ModelRequest, epoch: number): string {
    const { messages, tools, toolChoice = 'auto', config } = request
    const { name, baseUrl, args } = model
    const asked = {
      VERSION,
      name,
      baseUrl,
      args,
      messages,
      tools,
      toolChoice,
      config: answering(config),
      epoch,
    }
    return createHash('sha256')
      .update(JSON.stringify(sorted(asked)))
      .digest('hex')
  }

  /** undefined: not there, too old, or not readable. */
  async read(key: string): Promise<ModelOutput | undefined> {
    const text = await readFile(this.#path(key), 'utf8').catch(() => undefined)
    if (text === undefined) return undefined
    const entry = entrySchema.safeParse(parsed(text))
    if (!entry.success || this.#now() - entry.data.createdMs > this.#maxAgeMs) return undefined
    return entry.data.output as unknown as ModelOutput
  }

  /** Whole or not at all: other runs may read and write the same. @throws ConfigError */
  async write(key: string, { message, stopReason, usage, warnings }: ModelOutput): Promise<void> {
    const path = this.#path(key)
    const temporary = `${path}.${randomUUID()}`
    const entry = {
      version: VERSION,
      createdMs: this.#now(),
      output: { message, stopReason, usage, warnings },
    }
    try {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(temporary, JSON.stringify(entry), { flag: 'wx' })
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined)
      throw new ConfigError(`cannot write to the cache of model answers: ${errorMessage(error)}`, {
        cause: error,
      })
    }
  }

  #path(key: string): string {
    return join(this.#directory, key.slice(0, 2), `${key}.json`)
  }
}

/** Settings that change what is answered. */
function answering({ maxRetries, attemptTimeoutMs, cache, ...config }: GenerateConfig = {}): object {
  return config
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** With the keys of objects in order, as their order means nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]))
}
