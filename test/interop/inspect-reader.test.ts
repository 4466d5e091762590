import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { convertLog } from '../../src/log/convert/convert-log.ts'
import { Journal } from '../../src/log/journal/journal.ts'
import { LiveLog } from '../../src/log/live/live-log.ts'
import { LogWriter } from '../../src/log/write/log-writer.ts'
import { scoreLog } from '../../src/run/rescore/score-log.ts'
import { f1 } from '../../src/score/f1.ts'
import { KINDS, logOfKind, PIXEL } from '../support/log-kinds.ts'
import { footerRecord, headerRecord, sampleRecord } from '../support/log-records.ts'
import { tempDir } from '../support/temp-dir.ts'

const run = promisify(execFile)
const python = process.env.BELLJAR_INSPECT_PYTHON
const TIMEOUT_MS = 180_000
const CORPUS = '2026-12-01T01-25-49-00-00_arith_mHy2QKNSBMKTcsFGv4rqt3.eval'

interface Read {
  readonly task: string
  readonly status: [whole: string, head: string]
  readonly error: string | null
  readonly total: number
  readonly completed: number
  readonly metrics: Record<string, Record<string, number>>
  readonly solvers: string[]
  readonly reductions: [scorer: string, reducer: string, samples: number][]
  readonly summaries: unknown[]
  readonly samples: {
    id: string | number
    error: string | null
    retries: number
    limit: string | null
    messages: [role: string, length: number][]
    events: string[]
    input: string | [type: string, content: string][]
    media: [role: string, type: string, content: string][]
    heard: string[]
    inputs: number[]
    unresolved: boolean
    scores: Record<string, unknown>
    tokens: Record<string, number>
  }[]
}

if (!python)
  process.stderr.write(
    "NOT RUN: logs were not read by Inspect's own reader, as BELLJAR_INSPECT_PYTHON names no python that has inspect_ai\n",
  )

describe.skipIf(!python)(
  `Inspect's own reader${python ? '' : ' (not run: BELLJAR_INSPECT_PYTHON is not set)'}`,
  () => {
    const read = new Map<string, Read>()
    let directory: Awaited<ReturnType<typeof tempDir>>

    beforeAll(async () => {
      directory = await tempDir()
      for (const kind of Object.keys(KINDS)) await logOfKind(kind, directory.path)
      const script = join(import.meta.dirname, 'read_logs.py')
      const { stdout } = await run(python ?? '', [script, directory.path], { maxBuffer: 1 << 28 })
      for (const line of stdout.trimEnd().split('\n')) {
        const log = JSON.parse(line.replaceAll(/\bNaN\b/g, 'null')) as Read
        read.set(log.task, log)
      }
    }, TIMEOUT_MS)
    afterAll(() => rm(directory.path, { recursive: true }))

    it.each(Object.keys(KINDS))(
      'opens a log of kind %s whole, by its header and by its summaries',
      (kind) => {
        const log = read.get(kind.replace('no-scorers', 'no scorers'))!
        const status = kind === 'error' || kind === 'cancelled' ? kind : 'success'
        expect(log.status).toEqual([status, status])
        expect(log.summaries).toHaveLength(log.samples.length)
        expect(log.samples.filter(({ unresolved }) => unresolved)).toEqual([])
      },
    )

    it('sees whole conversations, tool calls and sandbox calls', () => {
      const [sample] = read.get('tools')!.samples
      expect(sample?.inputs).toEqual([2, 4, 7])
      expect(sample?.messages.map(([role]) => role).join(' ')).toBe(
        'system user assistant tool assistant tool tool assistant tool',
      )
      expect(sample?.events).toEqual(
        expect.arrayContaining(['model', 'tool', 'sandbox', 'score', 'span_begin']),
      )
      expect(sample?.tokens).toEqual({ scripted: 22 })
    })

    it('sees the media of an input', () => {
      const input = read.get('media')!.samples[0]!.input as [string, string][]
      expect(input.map(([type]) => type)).toEqual(['text', 'image', 'document', 'audio', 'video'])
      expect(input[0]![1]).toMatch(/^What is this\? Look closely\./)
      expect(input.slice(1).map(([, uri]) => uri.slice(0, uri.indexOf(',')))).toEqual(
        ['image/png', 'text/csv', 'audio/wav', 'video/mp4'].map((type) => `data:${type};base64`),
      )
    })

    it('sees the media of a conversation, those that a tool shows among them', () => {
      const [sample] = read.get('media')!.samples
      expect(sample?.media.map(([role, type]) => `${role} ${type}`)).toEqual([
        'user image',
        'user document',
        'user audio',
        'user video',
        'tool image',
      ])
      expect(sample?.media.at(-1)?.[2]).toBe(`data:image/png;base64,${PIXEL}`)
      expect(sample?.heard).toEqual(['text', 'image'])
    })

    it('sees errors, retries, limits and cancelled samples', () => {
      expect(read.get('error')?.error).toContain('the agent broke')
      const failed = read.get('error-kept')?.samples.find(({ error }) => error !== null)
      expect(failed).toMatchObject({ error: 'agent: the agent broke', retries: 1 })
      expect(read.get('limit')?.samples[0]).toMatchObject({
        limit: 'turn',
        events: expect.arrayContaining(['sample_limit']),
      })
      expect(read.get('cancelled')?.samples[0]?.error).toBe('The sample was cancelled.')
    })

    it('counts runs, and samples reduced over epochs', () => {
      expect(read.get('epochs')).toMatchObject({ total: 9, completed: 9, reductions: [['exact', 'mean', 3]] })
      expect(read.get('dynamic')).toMatchObject({ total: 5, completed: 5 })
      expect(read.get('unscored')).toMatchObject({ total: 2, reductions: [['silent', 'mean', 0]] })
    })

    it('sees the scores of what failed where they count, and the name of the agent', () => {
      expect(read.get('error-scored')).toMatchObject({
        metrics: { exact: { accuracy: 1 } },
        reductions: [['exact', 'mean', 2]],
      })
      expect(read.get('tools')?.solvers).toEqual(['toolLoop'])
    })

    it('finds samples by ids that are no file names', () => {
      expect(read.get('success')?.samples.map(({ id }) => id)).toEqual(
        expect.arrayContaining(['a', '../b/ü', 3]),
      )
    })

    it(
      'opens a snapshot of a log that is still being written',
      async () => {
        await using folder = await tempDir()
        await using journal = await Journal.create(
          folder.path,
          '2026-01-02T03-04-05-00-00_live_id.journal.jsonl',
        )
        await journal.append(headerRecord({ task: { name: 'live', parameters: {} } }))
        await journal.append(sampleRecord({ uuid: 'u1', id: 'a' }))
        const live = await LiveLog.open(journal.path)
        await live.advance()
        await journal.append(sampleRecord({ uuid: 'u2', id: 'b', input: randomBytes(5000).toString('hex') }))
        await live.advance()
        await live.close()
        const code = `from inspect_ai.log import read_eval_log as r, read_eval_log_sample_summaries as s
log = r(${JSON.stringify(live.path)})
print(log.status, [x.id for x in log.samples], [x.id for x in s(${JSON.stringify(live.path)})])`
        const { stdout } = await run(python ?? '', ['-c', code])
        expect(stdout.trim()).toBe("started ['a', 'b'] ['a', 'b']")
      },
      TIMEOUT_MS,
    )

    it(
      'opens a log that was scored again, ours and its own',
      async () => {
        await using folder = await tempDir()
        const own = join(folder.path, 'own.eval')
        await copyFile(join(import.meta.dirname, '../corpus/inspect-logs', CORPUS), own)
        const logs = [own, await logOfKind('epochs', folder.path)]
        const scored = await Promise.all(logs.map((log) => scoreLog(log, { scorers: [f1()] })))
        const paths = scored.map(({ log }) => log)
        const code = `from inspect_ai.log import read_eval_log as r, read_eval_log_sample_summaries as s
for path in ${JSON.stringify(paths)}:
    log = r(path)
    print([x.name for x in log.results.scores], [x.name for x in log.eval.scorers], [x.scorer for x in log.reductions],
          sum('f1' in (x.scores or {}) for x in log.samples), sum('f1' in (x.scores or {}) for x in s(path)))`
        const { stdout } = await run(python ?? '', ['-c', code])
        const list = (...names: string[]) => `[${names.map((name) => `'${name}'`).join(', ')}]`
        const three = (...names: string[]) =>
          Array(3)
            .fill(list(...names))
            .join(' ')
        expect(stdout.trim().split('\n')).toEqual([
          `${three('includes', 'exact', 'f1')} 2 2`,
          `${three('exact', 'f1')} 9 9`,
        ])
      },
      TIMEOUT_MS,
    )

    it(
      'opens a large sample, however this runtime packs it',
      async () => {
        await using folder = await tempDir()
        const text = randomBytes(60_000).toString('base64')
        const writer = await LogWriter.open(folder.path, '2026-01-02T03-04-05-00-00_large_id')
        await writer.append(headerRecord({ task: { name: 'large', parameters: {} } }))
        const content = text.repeat(3)
        await writer.append(sampleRecord({ id: 'a', messages: [{ role: 'user', content }] }))
        await writer.append(footerRecord())
        await writer.close()
        const code = `from inspect_ai.log import read_eval_log as r, read_eval_log_sample as s
log = r(${JSON.stringify(writer.path)})
one = s(${JSON.stringify(writer.path)}, id="a", epoch=1)
print(log.status, len(log.samples[0].messages[0].text), len(one.messages[0].text))`
        const { stdout } = await run(python ?? '', ['-c', code])
        expect(stdout.trim()).toBe(`success ${content.length} ${content.length}`)
      },
      TIMEOUT_MS,
    )

    it(
      'opens the JSON form',
      async () => {
        await using folder = await tempDir()
        const path = join(folder.path, '2026-01-02T03-04-05-00-00_tools_id.json')
        const pieces: string[] = []
        for await (const piece of convertLog(await logOfKind('epochs', folder.path), 'json'))
          pieces.push(piece)
        await writeFile(path, pieces.join(''))
        const code = `from inspect_ai.log import read_eval_log as r
a, b = r(${JSON.stringify(path)}), r(${JSON.stringify(path)}, header_only=True)
print(len(a.samples), a.status, b.status, b.samples)`
        const { stdout } = await run(python ?? '', ['-c', code])
        expect(stdout.trim()).toBe('9 success success None')
      },
      TIMEOUT_MS,
    )
  },
)
