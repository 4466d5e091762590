import { command, defineTask, oracle } from 'belljar'

const inImage = (id: string, image: string, hasDpkg: boolean) => ({
  id,
  input: 'Write yes or no to /work/dpkg.txt: is there a /usr/bin/dpkg?',
  metadata: { image },
  solution: 'test -e /usr/bin/dpkg && echo yes > /work/dpkg.txt || echo no > /work/dpkg.txt',
  tests: { '/tests/check.sh': `test "$(cat /work/dpkg.txt)" = ${hasDpkg ? 'yes' : 'no'}` },
})

/** Two sandbox configurations from one file. */
export default defineTask({
  name: 'image-by-sample',
  dataset: [
    inImage('busybox', 'busybox:latest', false),
    inImage('debian', 'debian:bookworm-slim', true),
    inImage('busybox-again', 'busybox:latest', false),
  ],
  agent: oracle(),
  scorers: [command(['sh', '/tests/check.sh'])],
})
