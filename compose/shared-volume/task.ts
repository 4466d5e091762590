import { command, defineTask, oracle } from 'belljar'

const shout = (word: string) => ({
  id: word,
  input: `A worker turns each /desk/NAME.todo into /desk/NAME.done, in capitals. Have it do so with the word '${word}'.`,
  solution: `
printf %s ${word} > /desk/word.tmp && mv /desk/word.tmp /desk/word.todo
until test -f /desk/word.done; do sleep 0.05; done`,
  tests: {
    '/tests/check.sh': `test "$(cat /desk/word.done)" = ${word.toUpperCase()} && test "$(ls /desk | wc -l)" -eq 1`,
  },
})

/** Two samples at once, and neither sees the other's volume, although the file gives it a fixed name. */
export default defineTask({
  name: 'shared-volume',
  dataset: [shout('hello'), shout('goodbye')],
  agent: oracle(),
  scorers: [command(['sh', '/tests/check.sh'])],
})
