import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { expect, it } from 'vitest'
import { runGuest } from '../unit/sandbox/guest/guest-process.ts'

const TRIES = 300

/** So that whoever has sent an answer may wait before it goes on. */
function busyMachine(): Disposable {
  const hogs = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn('sh', ['-c', 'while :; do :; done']),
  )
  return { [Symbol.dispose]: () => hogs.forEach((hog) => void hog.kill('SIGKILL')) }
}

it('a program that was just written can be executed at once, also on a busy machine', async () => {
  await using guest = await runGuest()
  using _busy = busyMachine()
  for (let index = 0; index < TRIES; index++) {
    const path = `./script-${index}`
    await guest.sandbox.writeFile(path, '#!/bin/sh\nexit 7\n', { mode: 0o700 })
    const { exitCode, launchError } = await guest.sandbox.exec([path])
    expect({ exitCode, launchError }).toEqual({ exitCode: 7, launchError: undefined })
  }
})
