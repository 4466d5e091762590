import { command, defineTask, oracle } from 'belljar'

/** The agent finds the data that a one-shot service made before. */
export default defineTask({
  name: 'migration',
  dataset: [
    {
      id: 'count-users',
      input: 'Write the number of users in /data/users.csv to /work/count.txt.',
      solution: 'grep -c , /data/users.csv > /work/count.txt',
      tests: { '/tests/check.sh': 'test "$(cat /work/count.txt)" -eq 3' },
    },
  ],
  agent: oracle(),
  scorers: [command(['sh', '/tests/check.sh'])],
})
