import { command, defineTask, oracle } from 'belljar'

/** The sandbox is the compose file beside this one. */
export default defineTask({
  name: 'single',
  dataset: [
    {
      id: 'greet',
      input: 'Write what the variable GREETING holds, and nothing else, to /work/greeting.txt.',
      solution: 'printf %s "$GREETING" > /work/greeting.txt',
      tests: { '/tests/check.sh': 'test "$(cat /work/greeting.txt)" = hello' },
    },
    {
      id: 'reverse',
      input: 'Write the lines of /work/lines.txt in reverse order to /work/reversed.txt.',
      files: { '/work/lines.txt': 'one\ntwo\nthree\n' },
      solution: 'tac /work/lines.txt > /work/reversed.txt',
      tests: { '/tests/check.sh': 'test "$(cat /work/reversed.txt)" = "$(printf \'three\\ntwo\\none\')"' },
    },
  ],
  agent: oracle(),
  scorers: [command(['sh', '/tests/check.sh'])],
})
