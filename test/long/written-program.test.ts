import { expect, it } from 'vitest'
import { hasGuest, runGuest } from '../unit/sandbox/guest/guest-process.ts'

it.skipIf(!hasGuest)('a program can be run as soon as it is written', async () => {
  await using guest = await runGuest()
  const { sandbox } = guest
  const failed: unknown[] = []
  const writeAndRun = async (worker: number) => {
    for (let count = 0; count < 400; count += 1) {
      const path = `./program-${worker}-${count}`
      await sandbox.writeFile(path, '#!/bin/sh\nexit 7\n', { mode: 0o700 })
      const { exitCode, launchError } = await sandbox.exec([path])
      if (exitCode !== 7) failed.push(launchError)
    }
  }
  await Promise.all(Array.from({ length: 16 }, (_, worker) => writeAndRun(worker)))
  expect(failed).toEqual([])
})
