import { DockerTarget } from './support/docker-target.ts'
import { conformanceSuite } from './support/suite.ts'

conformanceSuite('guest transport, busybox', {
  target: () => DockerTarget.open({ image: 'busybox:latest', transport: 'guest' }),
  heavy: true,
})
