import { command, defineTask, docker, oracle } from 'belljar'

/** The first line of what the gateway answers to a request for a host; a host that it refuses gets a 403. */
const ask = (host: string) =>
  `printf 'CONNECT ${host}:443 HTTP/1.1\\r\\n\\r\\n' | nc belljar-egress 3128 | head -n 1 | tr -d '\\r'`

const HOSTS = ['registry.npmjs.org', 'npmjs.org', 'example.org', '169.254.169.254']

const surveyed = {
  id: 'survey',
  input: `Write to /work/open.txt which of these hosts may be reached, one a line: ${HOSTS.join(', ')}.`,
  solution: HOSTS.map((host) => `${ask(host)} | grep -q ' 403 ' || echo ${host} >> /work/open.txt`).join(
    '\n',
  ),
  tests: { '/tests/check.sh': `test "$(cat /work/open.txt | xargs)" = registry.npmjs.org` },
}

const mirrored = {
  id: 'mirror',
  input: 'Write to /work/version.txt which version of left-pad the host mirror tells on port 7000.',
  solution: 'nc mirror 7000 < /dev/null | cut -d " " -f 2 > /work/version.txt',
  tests: { '/tests/check.sh': 'test "$(cat /work/version.txt)" = 1.3.0' },
}

/** No sample reaches anything but the listed hosts and its own services, whatever its commands try. */
export default defineTask({
  name: 'egress',
  dataset: [surveyed, mirrored],
  sandbox: docker({ compose: 'compose.yaml', network: { allow: ['pypi.org', '*.npmjs.org'] } }),
  agent: oracle(),
  scorers: [command(['sh', '/tests/check.sh'])],
})
