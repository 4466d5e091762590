import { command, defineTask, oracle } from 'belljar'

/** The agent has a token by which another service gives out what it alone holds. */
export default defineTask({
  name: 'secrets',
  dataset: [
    {
      id: 'treasure',
      input:
        'The vault on vault:8200 wants the token in /run/secrets/token. Write what it answers to /work/treasure.txt.',
      solution: `
vault=$(nslookup vault 127.0.0.11 | awk '/^Address: / { print $2 }')
nc $vault 8200 < /run/secrets/token > /work/treasure.txt`,
      tests: {
        '/tests/check.sh': 'test "$(cat /work/treasure.txt)" = "forty thieves" && test ! -e /treasure',
      },
    },
    {
      id: 'greet',
      input:
        'Greet everybody in /etc/names with the words in /etc/greeting, a line each, in /work/greetings.txt.',
      solution: 'sed "s/^/$(cat /etc/greeting), /" /etc/names > /work/greetings.txt',
      tests: { '/tests/check.sh': 'test "$(tail -n 1 /work/greetings.txt)" = "Good morning, Morgiana"' },
    },
  ],
  agent: oracle(),
  scorers: [command(['sh', '/tests/check.sh'])],
})
