import { DockerTarget } from '../contract/support/docker-target.ts'
import { engineKnownFailures } from '../contract/support/known-failures.ts'
import { conformanceSuite } from '../contract/support/suite.ts'

conformanceSuite('engine transport, Debian', {
  target: () => DockerTarget.open({ image: 'debian:bookworm-slim', transport: 'engine' }),
  knownFailures: engineKnownFailures(),
  heavy: false,
})
