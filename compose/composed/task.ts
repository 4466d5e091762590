import { command, defineTask, oracle } from 'belljar'

/** `include` and `extends` over folders. */
export default defineTask({
  name: 'composed',
  dataset: [
    {
      id: 'report',
      input:
        'Write a line to /work/report.txt: your role, your bench, the motto in /etc/motto and the number of jobs in /jobs, separated by semicolons.',
      solution: `
until test -e /jobs/.filled; do sleep 0.05; done
echo "$ROLE;$BENCH;$(cat /etc/motto);$(ls /jobs | wc -l)" > /work/report.txt`,
      tests: { '/tests/check.sh': 'test "$(cat /work/report.txt)" = "agent;oak;measure twice;3"' },
    },
  ],
  agent: oracle(),
  scorers: [command(['sh', '/tests/check.sh'])],
})
