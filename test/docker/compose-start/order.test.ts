import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ComposeRun, sh } from '../../support/compose.ts'

const forever = 'sleep infinity'

describe.concurrent('the order of a start', () => {
  it('waits for started, healthy and completed services, and starts independent ones at once', async () => {
    await using compose = await ComposeRun.open(`
services:
  main:
    image: busybox
    command: sh -c "echo main >> /log/order; ${forever}"
    volumes: [log:/log]
    depends_on:
      db: { condition: service_healthy }
      migration: { condition: service_completed_successfully }
      cache: { condition: service_started }
  db:
    image: busybox
    command: sh -c "echo db >> /log/order; until test -f /log/cache; do sleep 0.05; done; touch /ready; echo db-ready >> /log/order; ${forever}"
    volumes: [log:/log]
    healthcheck: { test: [CMD, test, -f, /ready], interval: 100ms, retries: 100 }
  migration:
    image: busybox
    command: sh -c "sleep 0.4; echo migrated >> /log/order"
    volumes: [log:/log]
  cache:
    image: busybox
    command: sh -c "echo cache >> /log/order; touch /log/cache; ${forever}"
    volumes: [log:/log]
volumes:
  log:
`)
    await using sandbox = await compose.start()
    expect([...sandbox.services.keys()].sort()).toEqual(['cache', 'db', 'main', 'migration'])
    expect(sandbox.default.service).toBe('main')
    const order = (await sh(sandbox.default, 'cat /log/order')).split('\n')
    expect([...order].sort()).toEqual(['cache', 'db', 'db-ready', 'main', 'migrated'])
    expect(order.at(-1)).toBe('main')
    expect(compose.reports.filter(({ kind }) => kind === 'warning')).toEqual([])
  })

  it('takes a service that ends with 0 for done, also when nobody waits for it', async () => {
    await using compose = await ComposeRun.open(`
services:
  main: { image: busybox, command: ${forever} }
  job: { image: busybox, command: "true" }
`)
    await using sandbox = await compose.start()
    expect(await sh(sandbox.default, 'echo up')).toBe('up')
    await expect(sandbox.services.get('job')?.exec(['true'])).rejects.toMatchObject({
      code: 'sandbox-unavailable',
    })
  })

  it('counts the health check of an image', async () => {
    await using compose = await ComposeRun.open(
      `
services:
  main:
    image: busybox
    command: sh -c "cat /shared/ready; ${forever}"
    volumes: [shared:/shared]
    depends_on: { db: { condition: service_healthy } }
  db:
    build: db
    volumes: [shared:/shared]
volumes: { shared: }
`,
      {
        'db/Dockerfile': `FROM busybox
HEALTHCHECK --interval=100ms --retries=100 CMD test -f /shared/ready
CMD ["sh", "-c", "sleep 0.3; echo yes > /shared/ready; ${forever}"]
`,
      },
    )
    await using sandbox = await compose.start()
    expect(await sh(sandbox.default, 'cat /shared/ready')).toBe('yes')
  })

  it('goes on without a service that nobody requires', async () => {
    await using compose = await ComposeRun.open(`
services:
  main:
    image: busybox
    command: ${forever}
    depends_on: { metrics: { condition: service_healthy, required: false } }
  metrics:
    image: busybox
    command: ${forever}
    healthcheck: { test: [CMD, "false"], interval: 50ms, retries: 2 }
`)
    await using sandbox = await compose.start()
    expect(await sh(sandbox.default, 'echo up')).toBe('up')
    const warnings = compose.reports.filter(({ kind }) => kind === 'warning')
    expect(warnings.map(({ message }) => message).join()).toMatch(
      /'metrics'.*unhealthy[\s\S]*no service requires it/,
    )
  })

  it('makes numbered containers of replicas, which share a name', async () => {
    await using compose = await ComposeRun.open(`
services:
  main:
    image: busybox
    command: ${forever}
    depends_on: [worker]
  worker:
    image: busybox
    command: ${forever}
    deploy: { replicas: 3 }
`)
    await using sandbox = await compose.start()
    const addresses = await sh(sandbox.default, "nslookup worker 127.0.0.11 | awk '/^Address: /{print $2}'")
    expect(new Set(addresses.split('\n')).size).toBe(3)
    const { control } = compose.run.provider.engine
    const label = [`belljar.run=${compose.run.run}`, 'com.docker.compose.service=worker']
    const containers = await control.listContainers({ filters: { label } })
    const numbers = containers.map(({ Labels }) => Labels['com.docker.compose.container-number'])
    expect(numbers.sort()).toEqual(['1', '2', '3'])
  })

  it('runs pre_stop hooks within the grace that the file gives, and none where it gives none', async () => {
    const service = (name: string, grace: string) => `
  ${name}:
    image: busybox
    command: ${forever}
    volumes: ["./out:/out"]
    ${grace}
    pre_stop: [{ command: [touch, /out/${name}] }]`
    await using compose = await ComposeRun.open(
      `services:${service('main', 'stop_grace_period: 10s')}${service('other', '')}`,
      { 'out/here': '' },
    )
    const sandbox = await compose.start()
    await sandbox.remove()
    expect((await readdir(join(compose.folder, 'out'))).sort()).toEqual(['here', 'main'])
  })

  it('runs post_start hooks before dependants start, and fails with what a failing one printed', async () => {
    const file = (exitCode: number) => `
services:
  main:
    image: busybox
    command: sh -c "cp /shared/hook /shared/seen; ${forever}"
    volumes: [shared:/shared]
    depends_on: [db]
  db:
    image: busybox
    command: ${forever}
    volumes: [shared:/shared]
    post_start:
      - command: [sh, -c, 'sleep 0.2; echo "$$WHO" $(pwd) > /shared/hook; echo seeding; exit ${exitCode}']
        environment: { WHO: hook }
        working_dir: /tmp
volumes: { shared: }
`
    await using compose = await ComposeRun.open(file(0))
    await using sandbox = await compose.start()
    expect(await sh(sandbox.default, 'cat /shared/seen')).toBe('hook /tmp')
    await using failing = await ComposeRun.open(file(4))
    const { error, left } = await failing.outcome()
    expect(error?.message).toMatch(/post_start\[0\].*'db' exited with code 4:\nseeding/)
    expect(left).toEqual([])
  })
})
