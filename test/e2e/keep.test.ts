import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { cli } from '../support/cli.ts'
import { objectsOfRun } from '../support/engine-objects.ts'

const TASK = `import { defineTask, docker } from 'belljar'
const dataset = ['good', 'bad one'].map((id) => ({ id, input: id }))
const agent = async ({ sample, sandbox }) => {
  await sandbox.exec(['sh', '-c', 'echo "$0" > /tmp/who', sample.id])
  if (sample.id === 'bad one') throw new Error('no good')
}
export default defineTask({ name: 'kept', dataset, agent, sandbox: docker({ image: 'busybox:latest', network: { allow: ['203.0.113.1'] } }) })
`
const sh = promisify(execFile)

it('--keep failed keeps the sandboxes of failed samples alone, and tells how to enter and remove each', async () => {
  const { stderr, exitCode, events } = await cli(
    ['run', 'task.ts', '--json', '--keep', 'failed', '--fail-on-error', 'never'],
    { 'task.ts': TASK },
  )
  expect(exitCode, stderr).toBe(1)
  const end = events.find((event) => event.type === 'run-end')
  const { run = '', kept = [], left } = end?.type === 'run-end' ? end : {}
  expect(left).toEqual([])
  expect(kept).toMatchObject([{ identity: { task: 'kept', sample: 'bad one', epoch: 1 } }])
  const { enter, remove } = kept[0]!
  expect(stderr).toContain(remove)
  expect(stderr).toContain(enter.default)
  expect(Object.keys(enter)).toEqual(['default'])

  const listed = await cli(['sandbox', 'list', '--json'])
  const mine = (listed.events as unknown as { run: string; belongs: string; identity?: object }[]).filter(
    (one) => one.run === run && one.identity,
  )
  expect(mine.map(({ belongs }) => belongs)).toEqual(['kept'])

  const { stdout: command } = await cli(enter.default!.split(' ').slice(1))
  const [, docker = ''] = /^docker exec --interactive --tty (\S+) sh -c /.exec(command) ?? []
  expect((await sh('docker', ['exec', docker, 'cat', '/tmp/who'])).stdout).toBe('bad one\n')

  const next = await cli(['run', 'task.ts'], { 'task.ts': TASK.replaceAll('bad one', 'fine') })
  expect(next.stderr).toContain('error')
  expect(await objectsOfRun(run)).toContain(docker)

  const [, which = '', epoch = ''] = /^belljar sandbox cleanup '(.*)' --epoch (\d)$/.exec(remove) ?? []
  const removed = await cli(['sandbox', 'cleanup', which, '--epoch', epoch])
  expect(removed.exitCode, removed.stderr).toBe(0)
  expect(await objectsOfRun(run)).not.toContain(docker)
  expect((await cli(['sandbox', 'cleanup', run])).exitCode).toBe(0)
  expect(await objectsOfRun(run)).toEqual([])
})
