import { type Agent, command, defineTask, defineTool, runAgent, textEditor, toolLoop } from 'belljar'
import { z } from 'zod'

/** A tool of one's own: what it returns is shown to the model, and a broken rule is told to it. */
const wordCount = defineTool({
  name: 'word_count',
  description: 'Counts the words of a file.',
  parameters: z.object({ path: z.string() }),
  execute: async ({ path }, { sandbox }) =>
    `${(await sandbox.readText(path)).trim().split(/\s+/).length} words`,
})

const writer = toolLoop({ system: 'You write what you are asked for.', tools: [textEditor()] })
const reviewer = toolLoop({ system: 'You review texts. Say OK, or what is wrong.', tools: [wordCount] })

/** An agent is a function: this one lets two others work in turn, until the second is content. */
const writeAndReview: Agent = async (context) => {
  let input = String(context.sample.input)
  for (let round = 1; round <= 3; round++) {
    await runAgent(writer, context, { name: 'write', input })
    const { output } = await runAgent(reviewer, context, {
      name: 'review',
      input: `Review /work/poem.txt: ${input}`,
    })
    if (output.startsWith('OK')) return `accepted after ${round}`
    input = `Change /work/poem.txt: ${output}`
  }
  return 'never accepted'
}

export default defineTask({
  name: 'write-and-review',
  dataset: [
    {
      id: 'poem',
      input: 'Write a poem of exactly four words to /work/poem.txt.',
      tests: { '/tests/check.sh': 'test "$(wc -w < /work/poem.txt)" -eq 4' },
    },
  ],
  sandbox: { kind: 'docker', config: { image: 'busybox:latest' } },
  agent: writeAndReview,
  scorers: [command(['sh', '/tests/check.sh'])],
  limits: { turns: 30 },
})
