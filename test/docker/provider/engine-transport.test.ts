import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { DockerRun } from '../../support/docker.ts'
import { tempDir } from '../../support/temp-dir.ts'

/** What is the engine transport's own; all else is in the conformance suite. */
describe.each(['busybox:latest', 'debian:bookworm-slim'])('the engine transport in %s', (image) => {
  let run: DockerRun
  let sandbox: Sandbox
  const sh = (script: string) => sandbox.exec(['sh', '-c', script])

  beforeAll(async () => {
    run = await DockerRun.open({ transport: 'engine' })
    sandbox = (await run.start({ image })).default
  })
  afterAll(() => run[Symbol.asyncDispose]())

  test('a command that kills its own wrapper ends as killed', async () => {
    expect(await sh('kill -9 $PPID; sleep 0.2')).toMatchObject({ exitCode: 137 })
  })

  test('a download names what it has left behind, and the rest comes', async () => {
    await using host = await tempDir()
    await sh('mkdir -p /bad && cd /bad && echo ok > good && ln -s /etc/passwd abs && mkfifo pipe')
    await expect(sandbox.download('/bad', join(host.path, 'bad'))).rejects.toThrow(/not extracted.*abs/)
    expect(await readdir(join(host.path, 'bad'))).toEqual(['good'])
  })

  test('the shell command is one that docker takes', () => {
    expect(sandbox.shellCommand()).toMatch(/^docker .*exec -it bj-docker-tes-\S+ sh$/)
  })
})
