import { command, defineTask, docker, type Sample, SampleSource, scripted } from 'belljar'

const LAST_BATCH = 4
const FIRST_TOOLBOX_BATCH = 3

/** Knows no sample when the run starts. From its third batch on, half of its samples need a sandbox that no earlier one had. */
class Batches extends SampleSource {
  #batch = 0

  override async nextSamples(): Promise<Sample[] | null> {
    this.#batch++
    if (this.#batch > LAST_BATCH) return null
    const plain = whoAmI(`batch-${this.#batch}-plain`, 'root')
    if (this.#batch < FIRST_TOOLBOX_BATCH) return [plain]
    const toolbox = whoAmI(`batch-${this.#batch}-toolbox`, 'worker')
    return [plain, { ...toolbox, sandbox: docker('toolbox/Dockerfile') }]
  }
}

function whoAmI(id: string, user: string): Sample {
  return {
    id,
    input: 'Write the name of the user that you are to /tmp/user.txt.',
    target: user,
    tests: { '/tests/check.sh': `test "$(cat /tmp/user.txt)" = ${user}` },
  }
}

export default defineTask({
  name: 'seedless',
  dataset: () => new Batches(),
  sandbox: docker({ image: 'busybox:latest' }),
  agent: scripted(['whoami > /tmp/user.txt']),
  scorers: [command(['sh', '/tests/check.sh'])],
})
