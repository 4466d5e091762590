import { describe, expect, it } from 'vitest'
import type { Message } from '../../../src/agent/messages.ts'
import type { ModelEvent } from '../../../src/agent/transcript.ts'
import { toSampleMember } from '../../../src/log/eval/sample.ts'
import { readSample } from '../../../src/log/read/log-reader.ts'
import { LogWriter } from '../../../src/log/write/log-writer.ts'
import { eventRecord, footerRecord, headerRecord, sampleRecord } from '../../support/log-records.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** The calls of an agent that takes so many turns, and the conversation that they add up to. */
function conversation(turns: number): { events: ModelEvent[]; messages: Message[] } {
  const messages: Message[] = [{ role: 'user', content: 'question' }]
  const events: ModelEvent[] = []
  for (let turn = 0; turn < turns; turn++) {
    const message = { role: 'assistant', content: `turn ${turn} ${'x'.repeat(200)}` } as const
    const output = { message, stopReason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } } as const
    events.push({
      type: 'model-output',
      startedMs: turn,
      durationMs: 1,
      model: 'm',
      inputFrom: 2 * turn,
      input: messages.slice(-1),
      inputRefs: [[0, messages.length]],
      output,
    })
    messages.push(message, { role: 'user', content: `go on after ${turn}` })
  }
  return { events, messages }
}

describe('a large sample', () => {
  it('of many turns costs what its turns say, not what each of them has heard', () => {
    const sizeOf = (turns: number) => {
      const { events, messages } = conversation(turns)
      return JSON.stringify(toSampleMember(sampleRecord({ messages }), events)).length
    }
    expect(sizeOf(2000) / sizeOf(500)).toBeLessThan(4.2)
  })

  it('of many turns gives every model call all that came before it', () => {
    const { events, messages } = conversation(100)
    const { events: shown = [], messages: said = [] } = toSampleMember(sampleRecord({ messages }), events)
    const refs = shown.flatMap((event) => (event.event === 'model' ? [event.input_refs] : []))
    expect(refs[99]).toEqual([[0, 199]])
    expect(new Set(said.map(({ id }) => id)).size).toBe(said.length)
  })

  it('of tens of megabytes is given back whole', async () => {
    await using directory = await tempDir()
    const writer = await LogWriter.open(directory.path, 'log')
    const pieces = Array.from({ length: 6 }, (_, index) => `${index} `.repeat(2_000_000))
    const messages = pieces.map((content): Message => ({ role: 'user', content }))
    const sample = sampleRecord({ messages })
    const events = pieces.map((data) => ({ type: 'info', startedMs: 1, source: 's', data }) as const)
    await writer.append(headerRecord())
    for (const event of events) await writer.append(eventRecord(sample.uuid, event))
    await writer.append(sample)
    await writer.append(footerRecord())
    await writer.close()
    expect(writer.path).toBe(writer.finishedPath)
    const read = await readSample(writer.path, { id: '1', epoch: 1 })
    expect(read.record.messages.every(({ content }, index) => content === pieces[index])).toBe(true)
    expect(read.events.every((event, index) => event.type === 'info' && event.data === pieces[index])).toBe(
      true,
    )
  }, 60_000)
})
