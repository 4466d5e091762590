import { readFile, writeFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../../src/agent/messages.ts'
import type { ModelEvent } from '../../../src/agent/transcript.ts'
import { Journal } from '../../../src/log/journal/journal.ts'
import { openPriorLog } from '../../../src/log/prior/open-prior-log.ts'
import { readSample } from '../../../src/log/read/log-reader.ts'
import type { LogRecord } from '../../../src/log/records/records.ts'
import { finishLog } from '../../../src/log/write/finish-log.ts'
import {
  eventRecord,
  footerRecord,
  headerRecord,
  recordsOf,
  sampleRecord,
} from '../../support/log-records.ts'
import { tempDir } from '../../support/temp-dir.ts'

const says = (content: string): Message => ({ role: 'user', content })
const answers = (content: string): Message & { role: 'assistant' } => ({ role: 'assistant', content })
const LONG = 'said once, and long enough to be found '.repeat(20)

/** What a model was asked more, and its answer. */
function asked(input: readonly Message[], answer?: string): ModelEvent {
  return {
    type: 'model-output',
    startedMs: 1_767_323_045_678,
    durationMs: 1,
    model: 'm',
    inputFrom: 0,
    input,
    inputRefs: [[0, 1]],
    ...(answer === undefined
      ? { error: 'no answer' }
      : {
          output: {
            message: answers(answer),
            stopReason: 'stop',
            usage: { inputTokens: 1, outputTokens: 1 },
          },
        }),
  }
}

async function journalOf(directory: string, records: readonly LogRecord[]): Promise<string> {
  const journal = await Journal.create(directory, 'log.journal.jsonl', { fsync: 'never' })
  for (const record of records) journal.note(record)
  await journal.close()
  return journal.path
}

describe('the messages of a sample', () => {
  it('are in its journal once, and everybody who reads it has them', async () => {
    await using directory = await tempDir()
    const result = `${LONG} by a tool`
    const call = { id: 'c1', name: 'bash', arguments: { command: 'ls' } }
    const seen: Message = { role: 'tool', content: result, toolCallId: 'c1', toolName: 'bash' }
    const messages = [says(LONG), answers('yes'), seen, answers('no'), says('only in the record')]
    const records = [
      headerRecord(),
      eventRecord('u1', asked([says(LONG)], 'yes')),
      eventRecord('u1', { type: 'tool-call', startedMs: 1_767_323_045_678, durationMs: 1, call, result }),
      eventRecord('u1', { ...asked([seen], 'no'), inputFrom: 2 }),
      sampleRecord({ messages }),
    ]
    const path = await journalOf(directory.path, records)
    expect((await readFile(path, 'utf8')).split(LONG)).toHaveLength(3)
    expect(await recordsOf(path)).toEqual(records)
    expect((await readSample(path, { id: '1', epoch: 1 })).record.messages).toEqual(messages)
    {
      await using prior = await openPriorLog(path)
      const [sample] = [...prior.samples.values()]
      expect((await prior.load(sample!)).messages).toEqual(messages)
    }
    const { path: log } = await finishLog(path, { recover: true })
    const { record, events } = await readSample(log, { id: '1', epoch: 1 })
    expect(record.messages).toEqual(messages)
    expect(events.map((event) => event.type === 'model-output' && event.input)).toEqual([
      [says(LONG)],
      false,
      [seen],
    ])
  })

  it('come back whatever was told in which order, in however many samples at once', async () => {
    const message = fc.constantFrom('a', 'b', 'c').chain((text) => fc.constantFrom(says(text), answers(text)))
    const event = fc.tuple(fc.array(message, { maxLength: 3 }), fc.option(fc.constantFrom('a', 'd')))
    const one = fc.record({ events: fc.array(event, { maxLength: 4 }), messages: fc.array(message) })
    await fc.assert(
      fc.asyncProperty(one, one, async (first, second) => {
        await using directory = await tempDir()
        const both = [first, second].map(({ events, messages }, index) => [
          ...events.map(([input, answer]) => eventRecord(`u${index}`, asked(input, answer ?? undefined))),
          sampleRecord({ uuid: `u${index}`, id: index, messages }),
        ])
        const lines = Array.from({ length: 5 }, (_, place) => both.flatMap((own) => own[place] ?? [])).flat()
        const records = [headerRecord(), ...lines, footerRecord()]
        const path = await journalOf(directory.path, records)
        expect(await recordsOf(path)).toEqual(records)
        const { path: log } = await finishLog(path)
        for (const [index, { messages }] of [first, second].entries())
          expect((await readSample(log, { id: String(index), epoch: 1 })).record.messages).toEqual(messages)
      }),
      { numRuns: 15 },
    )
  }, 60_000)

  it('are as they were at the end where they were changed after a model had them', async () => {
    await using directory = await tempDir()
    const message = { role: 'user' as const, content: 'before' }
    const journal = await Journal.create(directory.path, 'log.journal.jsonl')
    await journal.append(headerRecord())
    await journal.append(eventRecord('u1', asked([message])))
    message.content = 'after'
    await journal.append(sampleRecord({ messages: [message] }))
    await journal.close()
    expect((await recordsOf(journal.path)).at(-1)).toMatchObject({ messages: [says('after')] })
  })

  it('are those of the lines that were written, not of one that was refused', async () => {
    await using directory = await tempDir()
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const journal = await Journal.create(directory.path, 'log.journal.jsonl')
    await journal.append(headerRecord())
    expect(() =>
      journal.note(eventRecord('u1', { ...asked([says('refused')]), call: { request: cycle } })),
    ).toThrow(/circular/)
    await journal.append(eventRecord('u1', asked([says('taken')])))
    await journal.append(sampleRecord({ messages: [says('refused'), says('taken')] }))
    await journal.close()
    expect((await recordsOf(journal.path)).at(-1)).toMatchObject({
      messages: [says('refused'), says('taken')],
    })
  })

  it('whose line is damaged are said to be lost; all others of the sample are where they were', async () => {
    await using directory = await tempDir()
    const messages = [says('damaged one'), answers('yes'), says('sound'), answers('no')]
    const path = await journalOf(directory.path, [
      headerRecord(),
      eventRecord('u1', asked([says('damaged one')], 'yes')),
      eventRecord('u1', asked([says('sound')], 'no')),
      sampleRecord({ messages, scores: { exact: { value: 'C' } } }),
      footerRecord(),
    ])
    await writeFile(path, (await readFile(path, 'utf8')).replace('damaged one', 'd4maged one'))
    const { path: log } = await finishLog(path, { recover: true })
    const { record } = await readSample(log, { id: '1', epoch: 1 })
    expect(record.scores).toEqual({ exact: { value: 'C' } })
    const lost = '(the line that held this message is damaged)'
    expect(record.messages.map(({ content }) => content)).toEqual([lost, lost, 'sound', 'no'])
  })
})
