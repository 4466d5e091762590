import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { cli } from '../support/cli.ts'

const TASK = (sandbox: string) => `import { command, defineTask, docker, scripted } from 'belljar'
export default defineTask({
  name: 'where', dataset: [{ input: 'x' }], agent: scripted(['cat /proc/1/comm > made']),
  sandbox: ${sandbox}, scorers: [command(['test', '-s', 'made'])],
})
`

const samples = (result: Awaited<ReturnType<typeof cli>>) =>
  result.events.flatMap((event) => (event.type === 'sample-end' ? [event.record.status] : []))

describe('how sandboxes are reached', () => {
  it('--sandbox local runs on this host, says so, and leaves nothing', async () => {
    const folders = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('belljar-local-'))
    const before = await folders()
    const docker = "docker({ image: 'no-such-image' })"
    const result = await cli(['run', 'task.ts', '--json', '--sandbox', 'local'], { 'task.ts': TASK(docker) })
    expect(result.exitCode, result.stderr).toBe(0)
    expect(result.stderr).toContain('local: no isolation')
    expect(samples(result)).toEqual(['success'])
    const header = result.events.find(({ type }) => type === 'eval-start')
    expect(header).toMatchObject({
      header: { config: { sandboxes: [{ kind: 'local', reach: 'local: no isolation' }] } },
    })
    expect(await folders()).toEqual(before)
  })

  it('a task may choose local by name', async () => {
    const result = await cli(['run', 'task.ts', '--json'], { 'task.ts': TASK("'local'") })
    expect(result.exitCode, result.stderr).toBe(0)
    expect(samples(result)).toEqual(['success'])
  })

  it("--no-guest uses the Engine's exec and says so once", async () => {
    const docker = "docker({ image: 'busybox:latest' })"
    const result = await cli(['run', 'task.ts', '--json', '--no-guest', '--epochs', '2'], {
      'task.ts': TASK(docker),
    })
    expect(result.exitCode, result.stderr).toBe(0)
    expect(samples(result)).toEqual(['success', 'success'])
    const notes = result.events.filter(
      (event) => event.type === 'note' && event.message.includes('without a guest'),
    )
    expect(notes).toHaveLength(1)
  })
})
