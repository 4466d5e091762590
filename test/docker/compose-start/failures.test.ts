import { describe, expect, it } from 'vitest'
import { ComposeRun } from '../../support/compose.ts'

const forever = 'sleep infinity'
const main = `
services:
  main:
    image: busybox
    command: ${forever}
`

describe.concurrent('a start that fails leaves nothing and says why', () => {
  it('unhealthy: with what the probe printed, after one more try with everything made anew', async () => {
    await using compose = await ComposeRun.open(`${main}
  db:
    image: busybox
    command: sh -c "echo database log; ${forever}"
    healthcheck: { test: [CMD-SHELL, "echo no table users; exit 3"], interval: 100ms, retries: 3 }
`)
    const { error, reports, left } = await compose.outcome()
    expect(error).toMatchObject({
      code: 'sandbox-unavailable',
      reason: 'start',
      service: 'db',
      mayPass: true,
    })
    expect(error?.message).toMatch(
      /'db' did not start: it is unhealthy\nprobe with exit code 3: no table users/,
    )
    const retries = reports.filter(({ message }) => message.includes('starting once more'))
    expect(retries).toHaveLength(1)
    expect(left).toEqual([])
  })

  it('never healthy: when the engine says so, by the numbers of the file', async () => {
    await using compose = await ComposeRun.open(`${main}
  db:
    image: busybox
    command: ${forever}
    healthcheck: { test: [CMD, sleep, "60"], interval: 100ms, timeout: 400ms, retries: 2 }
`)
    const { error, left } = await compose.outcome()
    expect(error?.message).toMatch(/'db' did not start: it is unhealthy/)
    expect(error).toMatchObject({ reason: 'start-timeout', mayPass: true })
    expect(left).toEqual([])
  })

  it('exited: with code and last log lines, at once and without another try', async () => {
    await using compose = await ComposeRun.open(`${main}
  job:
    image: busybox
    command: sh -c "echo cannot open the vault >&2; exit 3"
`)
    const { error, reports, left } = await compose.outcome()
    expect(error).toMatchObject({ service: 'job', mayPass: false })
    expect(error?.message).toMatch(/its container exited with code 3[\s\S]*cannot open the vault/)
    expect(reports.filter(({ message }) => message.includes('starting once more'))).toEqual([])
    expect(left).toEqual([])
  })

  it('a migration that fails: its dependant is never started', async () => {
    await using compose = await ComposeRun.open(`
services:
  main:
    image: busybox
    command: ${forever}
    depends_on: { migration: { condition: service_completed_successfully } }
  migration:
    image: busybox
    command: sh -c "sleep 0.2; echo duplicate column; exit 9"
`)
    const { error, left } = await compose.outcome()
    expect(error?.message).toMatch(/'migration' did not start: .*exited with code 9[\s\S]*duplicate column/)
    expect(left).toEqual([])
  })

  it('crash-looping: with the code and the last log lines', async () => {
    await using compose = await ComposeRun.open(`${main}
  web:
    image: busybox
    restart: always
    command: sh -c "echo no config; exit 5"
`)
    const { error, left } = await compose.outcome()
    expect(error?.message).toMatch(/keeps exiting with code 5 \(restarted \d+ times\)[\s\S]*no config/)
    expect(left).toEqual([])
  })

  it('the default service has ended, if with code 0', async () => {
    await using compose = await ComposeRun.open('services: { main: { image: busybox, command: "true" } }')
    const { error, left } = await compose.outcome()
    expect(error?.message).toMatch(/ended with exit code 0, but it is the service that the agent works in/)
    expect(left).toEqual([])
  })

  it('a service that others want healthy has no health check', async () => {
    await using compose = await ComposeRun.open(`
services:
  main:
    image: busybox
    command: ${forever}
    depends_on: { db: { condition: service_healthy } }
  db: { image: busybox, command: ${forever} }
`)
    const { error, left } = await compose.outcome()
    expect(error?.message).toMatch(/'db'.*has no health check/)
    expect(left).toEqual([])
  })

  it('a program that is not there', async () => {
    await using compose = await ComposeRun.open('services: { main: { image: busybox, command: [nowhere] } }')
    const { error, left } = await compose.outcome()
    expect(error?.message).toMatch(/'main' did not start: .*nowhere/)
    expect(left).toEqual([])
  })

  it('aborted while it waits: with the reason, and everything is removed', async () => {
    await using compose = await ComposeRun.open(`
services:
  main:
    image: busybox
    command: ${forever}
    depends_on: { db: { condition: service_healthy } }
  db:
    image: busybox
    command: ${forever}
    healthcheck: { test: [CMD, "false"], interval: 60s }
`)
    const controller = new AbortController()
    const outcome = compose.outcome({ signal: controller.signal })
    setTimeout(() => controller.abort(new Error('enough')), 700)
    const { error, left } = await outcome
    expect(error?.message).toBe('enough')
    expect(left).toEqual([])
  })
})
