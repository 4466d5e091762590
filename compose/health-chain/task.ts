import { command, defineTask, oracle } from 'belljar'

/** Nothing starts before what it needs is healthy. */
export default defineTask({
  name: 'health-chain',
  dataset: [
    {
      id: 'order',
      input:
        'Every service wrote its name to /chain/order when it started. Write the names in one line, separated by blanks, to /work/order.txt.',
      solution: "tr '\\n' ' ' < /chain/order | sed 's/ $//' > /work/order.txt",
      tests: { '/tests/check.sh': 'test "$(cat /work/order.txt)" = "first second third default"' },
    },
  ],
  agent: oracle(),
  scorers: [command(['sh', '/tests/check.sh'])],
})
