import { expect, it } from 'vitest'
import { human } from '../../../src/agent/human.ts'
import { agentContext } from '../../support/agent-context.ts'
import { hasGuest, runGuest } from '../sandbox/guest/guest-process.ts'

it.skipIf(!hasGuest)('a person is told how to get in, and hands an answer in from a shell', async () => {
  await using guest = await runGuest()
  const context = agentContext({ sandbox: guest.sandbox })
  let told = ''
  const announce = (text: string) => {
    told += text
  }
  const work = human({ announce, sleep: async () => undefined })(context)
  await expect.poll(() => told).toContain(`cd ${guest.folder}`)
  expect(told).toContain('What is six times seven?')
  const [, submit = ''] = /Hand in: {2}(\S+)/.exec(told) ?? []
  expect((await guest.sandbox.exec([submit, 'forty', 'two'])).exitCode).toBe(0)
  expect(await work).toBe('forty two')
  await guest.sandbox.exec(['rm', '-f', submit])
})
