import { DockerTarget } from './support/docker-target.ts'
import { engineKnownFailures } from './support/known-failures.ts'
import { conformanceSuite } from './support/suite.ts'

conformanceSuite('engine transport, busybox', {
  target: () => DockerTarget.open({ image: 'busybox:latest', transport: 'engine' }),
  knownFailures: {
    ...engineKnownFailures(),
    'a program whose name begins with a dash is looked up as any other':
      "busybox's shell does not look it up",
  },
  heavy: true,
})
