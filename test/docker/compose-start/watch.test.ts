import { describe, expect, it } from 'vitest'
import { ComposeRun, sh } from '../../support/compose.ts'

const services = (db: string, more = '') => `
services:
  main: { image: busybox, command: sleep infinity }
  db:
    image: busybox
    ${more}
    command: [sh, -c, ${JSON.stringify(db)}]
    volumes: [signal:/signal]
  trigger: { image: busybox, command: sleep infinity, volumes: [signal:/signal] }
volumes: { signal: }
`
const wait = 'until test -e /signal/go; do sleep 0.05; done'

/** Resolves to what the command ended with once the service has died. */
async function death(db: string, more = '') {
  const compose = await ComposeRun.open(services(db, more))
  const sandbox = await compose.start()
  const inFlight = sandbox.default.exec(['sleep', '60']).then(
    () => undefined,
    (error: unknown) => error,
  )
  await sh(sandbox.services.get('trigger'), 'touch /signal/go')
  return { compose, sandbox, inFlight }
}

describe.concurrent('a service that dies while the agent works', () => {
  it('ends the command in flight and every later call at once, with its exit state and last log lines', async () => {
    const { compose, sandbox, inFlight } = await death(`${wait}; echo disk is full; exit 6`)
    await using _compose = compose
    const expected = { code: 'sandbox-unavailable', reason: 'exited', service: 'db' }
    expect(await inFlight).toMatchObject({
      ...expected,
      postMortem: expect.stringMatching(/exit code 6[\s\S]*disk is full/),
    })
    await expect(sandbox.default.exec(['true'])).rejects.toMatchObject(expected)
    await expect(sandbox.default.readText('/etc/passwd')).rejects.toMatchObject(expected)
    expect(compose.reports.map(({ message }) => message).join('\n')).toMatch(
      /'db' is unavailable[\s\S]*disk is full/,
    )
    expect(await sandbox.remove()).toMatchObject({ left: [] })
  })

  it('also where its restart policy starts it again', async () => {
    const { compose, inFlight } = await death(`${wait}; rm /signal/go; echo again; exit 3`, 'restart: always')
    await using _compose = compose
    expect(await inFlight).toMatchObject({ code: 'sandbox-unavailable', service: 'db' })
  })

  it('but not one that has done its work', async () => {
    await using compose = await ComposeRun.open(services(`${wait}; touch /signal/done; exit 0`))
    await using sandbox = await compose.start()
    const trigger = sandbox.services.get('trigger')
    await sh(trigger, 'touch /signal/go; until test -e /signal/done; do sleep 0.05; done; sleep 0.5')
    expect(await sh(sandbox.default, 'echo still here')).toBe('still here')
  })
})
