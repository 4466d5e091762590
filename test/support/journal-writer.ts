import { Journal } from '../../src/log/journal/journal.ts'
import { eventRecord, headerRecord, sampleRecord } from './log-records.ts'

/** Writes samples into a journal, two at a time, until it is killed; prints the id of each once its record is in the file. */
async function write(directory: string): Promise<void> {
  const journal = await Journal.create(directory, 'log.journal.jsonl')
  await journal.append(headerRecord())
  let id = 0
  const life = async () => {
    for (;;) {
      const own = ++id
      const uuid = `u${own}`
      const startedAt = new Date().toISOString()
      journal.note({ type: 'sample-start', uuid, id: own, epoch: 1, startedAt, input: `question ${own}` })
      for (let turn = 0; turn < 5; turn++)
        journal.note(
          eventRecord(uuid, { type: 'info', startedMs: Date.now(), source: 's', data: 'x'.repeat(5000) }),
        )
      await journal.append(sampleRecord({ uuid, id: own, startedAt }))
      process.stdout.write(`${own}\n`)
    }
  }
  await Promise.all([life(), life()])
}

await write(process.argv[2]!)
