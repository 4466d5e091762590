import { DockerTarget } from './support/docker-target.ts'
import { engineKnownFailures } from './support/known-failures.ts'
import { conformanceSuite } from './support/suite.ts'

conformanceSuite('engine transport, Debian', {
  target: () => DockerTarget.open({ image: 'debian:bookworm-slim', transport: 'engine' }),
  knownFailures: engineKnownFailures(),
  heavy: false,
})
