import { command, defineTask, oracle } from 'belljar'

/** The agent works beside a web server and its database, and reaches both by name. */
export default defineTask({
  name: 'web-and-database',
  dataset: [
    {
      id: 'price',
      input:
        'The web server web:8080 answers /cgi-bin/price?ITEM. Write the prices of an apple and a pear together to /work/sum.txt.',
      solution: `
ask() {
  web=$(nslookup web 127.0.0.11 | awk '/^Address: / { print $2 }')
  printf 'GET /cgi-bin/price?%s HTTP/1.0\\r\\n\\r\\n' $1 | nc $web 8080 | tail -n 1
}
echo $(($(ask apple) + $(ask pear))) > /work/sum.txt`,
      tests: { '/tests/check.sh': 'test "$(cat /work/sum.txt)" = 75' },
    },
  ],
  agent: oracle(),
  scorers: [command(['sh', '/tests/check.sh'])],
})
