import { execFileSync } from 'node:child_process'
import { afterAll } from 'vitest'
import { DockerTarget } from '../contract/support/docker-target.ts'
import { engineKnownFailures } from '../contract/support/known-failures.ts'
import { conformanceSuite } from '../contract/support/suite.ts'

const ENGINE = 'contract-runsc'
const lacks = { small: 'a small limit of processes ends a sandbox under runsc at once' }

const ORPHANS = 'gVisor hands orphans to PID 1 instead of their subreaper'

/** What gVisor (tried: 20221219) does other than Linux, over either transport. */
const ALIKE = {
  'a link out of the folder leads to the sandbox, never to this host':
    'gVisor takes a path that leads through a link to / for / itself',
  'host safety: links out, devices, pipes and special bits do not come to this host':
    'gVisor makes no device nodes',
}

const KNOWN_FAILURES = {
  guest: {
    ...ALIKE,
    'one argument of 200 KB is a launch error: arguments-too-long':
      'gVisor answers ENAMETOOLONG in place of E2BIG',
    'a deadline kills the whole tree, however it tries to get away': ORPHANS,
    'a deadline kills what has cleared its environment, left its session and lost its parent': ORPHANS,
    'strict: a deadline kills the tree': ORPHANS,
    '200 commands at once each have their own result':
      'the guest falls silent under so many commands and is taken for lost',
    'pty: control characters reach the command':
      'gVisor echoes ^C on the terminal of the guest and sends no signal',
  },
  engine: {
    ...ALIKE,
    ...engineKnownFailures(),
    'a program whose name begins with a dash is looked up as any other':
      "busybox's shell does not look it up",
    'a folder that the user may not enter is a launch error: no-such-cwd':
      'not found out: the command runs, though by hand the folder is refused',
    'pty: it is a terminal of the size asked for, and can be resized':
      'the terminal of an exec has no size before its first resize under gVisor',
  },
}

const CRASH = 'gVisor itself ends with exit code 2 now and then while many commands of the Engine begin'

const MAY_BE_LOST = {
  guest: {},
  engine: {
    '200 commands at once each have their own result': CRASH,
    '32 uploads at once all arrive': CRASH,
  },
}

const script = (...words: string[]) => execFileSync('bash', words, { encoding: 'utf8' }).trim()

afterAll(() => {
  script('scripts/second-engine.sh', 'stop', ENGINE)
}, 120_000)

/** The same checks under gVisor, on an engine of its own. */
for (const transport of ['guest', 'engine'] as const)
  conformanceSuite(`${transport} transport, busybox under runsc`, {
    target: () => {
      const environment = { ...process.env, DOCKER_HOST: script('scripts/runsc-engine.sh', ENGINE) }
      return DockerTarget.open({ image: 'busybox:latest', runtime: 'runsc', transport, environment, lacks })
    },
    lacks,
    knownFailures: KNOWN_FAILURES[transport],
    mayBeLost: MAY_BE_LOST[transport],
    heavy: false,
  })
