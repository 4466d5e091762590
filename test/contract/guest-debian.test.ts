import { DockerTarget } from './support/docker-target.ts'
import { conformanceSuite } from './support/suite.ts'

conformanceSuite('guest transport, Debian', {
  target: () => DockerTarget.open({ image: 'debian:bookworm-slim', transport: 'guest' }),
  heavy: false,
})
