import type { Message } from '../../src/agent/messages.ts'
import { LogWriter } from '../../src/log/write/log-writer.ts'
import { eventRecord, footerRecord, headerRecord, sampleRecord } from './log-records.ts'

const TURNS = 50
const LINES = 27_000

/** What a tool printed: lines that differ. */
const output = (turn: number) =>
  Array.from(
    { length: LINES },
    (_, line) => `line ${line} of ${turn}: ${(line * 7919 + turn) % 10_007} words of output\n`,
  ).join('')

/** Logs one sample with 50 MB of tool output; prints how many there were and the most memory that this process had. */
async function write(directory: string): Promise<void> {
  let peak = 0
  const look = () => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  const timer = setInterval(look, 10)
  const writer = await LogWriter.open(directory, 'log')
  await writer.append(headerRecord())
  const messages: Message[] = []
  const times = { startedMs: 1_767_323_045_678, durationMs: 1 }
  for (let turn = 0; turn < TURNS; turn++) {
    const call = { id: `c${turn}`, name: 'bash', arguments: {} }
    const result = output(turn)
    const message: Message = { role: 'tool', content: result, toolCallId: call.id, toolName: call.name }
    messages.push(message)
    writer.note(eventRecord('u1', { type: 'tool-call', ...times, call, result }))
    writer.note(
      eventRecord('u1', {
        type: 'model-output',
        ...times,
        model: 'm',
        inputFrom: turn,
        input: [message],
        inputRefs: [[0, turn + 1]],
        error: 'no answer',
      }),
    )
    look()
  }
  await writer.append(sampleRecord({ messages }))
  await writer.append(footerRecord())
  await writer.close()
  clearInterval(timer)
  look()
  const bytes = messages.reduce((sum, { content }) => sum + content.length, 0)
  process.stdout.write(JSON.stringify({ log: writer.path, bytes, peak }))
}

await write(process.argv[2]!)
