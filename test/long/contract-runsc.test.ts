import { execFileSync } from 'node:child_process'
import { afterAll } from 'vitest'
import { DockerTarget } from '../contract/support/docker-target.ts'
import { engineKnownFailures } from '../contract/support/known-failures.ts'
import { conformanceSuite } from '../contract/support/suite.ts'

const ENGINE = 'contract-runsc'
const lacks = { small: 'a small limit of processes ends a sandbox under runsc at once' }

const script = (...words: string[]) => execFileSync('bash', words, { encoding: 'utf8' }).trim()

afterAll(() => {
  script('scripts/second-engine.sh', 'stop', ENGINE)
})

/** The same checks under gVisor, on an engine of its own. */
for (const transport of ['guest', 'engine'] as const)
  conformanceSuite(`${transport} transport, busybox under runsc`, {
    target: () => {
      const environment = { ...process.env, DOCKER_HOST: script('scripts/runsc-engine.sh', ENGINE) }
      return DockerTarget.open({ image: 'busybox:latest', runtime: 'runsc', transport, environment, lacks })
    },
    lacks,
    knownFailures: transport === 'engine' ? engineKnownFailures() : {},
    heavy: false,
  })
