import { evaluate } from '../../src/run/evaluate.ts'
import { defineTask } from '../../src/task/task.ts'

/** Runs samples with much to log, where the disk is full before all have ended; prints the id of each when it is told to have ended, and the outcome. */
async function run(logDir: string): Promise<void> {
  const task = defineTask({
    name: 'large',
    dataset: Array.from({ length: 60 }, (_, index) => ({ id: index, input: 'x' })),
    sandbox: false,
    agent: async () => 'y'.repeat(20_000),
  })
  const { evals } = await evaluate([task], {
    logDir,
    maxSamples: 2,
    onEvent: (event) => {
      if (event.type === 'sample-end') process.stdout.write(`${event.record.id}\n`)
    },
  })
  process.stdout.write(`${JSON.stringify(evals[0])}\n`)
}

await run(process.argv[2]!)
