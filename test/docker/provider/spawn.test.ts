import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { DockerRun } from '../../support/docker.ts'

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe('spawned commands', () => {
  let run: DockerRun
  let sandbox: Sandbox

  beforeAll(async () => {
    run = await DockerRun.open({ transport: 'engine' })
    sandbox = (await run.start({ image: 'debian:bookworm-slim' })).default
  })
  afterAll(() => run[Symbol.asyncDispose]())

  test('output comes while the command runs, and input goes in until it is closed', async () => {
    const process = await sandbox.spawn(
      ['sh', '-c', 'while read -r line; do echo "got $line"; done; exit 4'],
      {
        stdin: true,
      },
    )
    const output = process.stdout[Symbol.asyncIterator]()
    await process.write('one\n')
    expect(Buffer.from((await output.next()).value).toString()).toBe('got one\n')
    await process.write('two\n')
    expect(Buffer.from((await output.next()).value).toString()).toBe('got two\n')
    await process.closeStdin()
    expect(await process.wait()).toMatchObject({ exitCode: 4, timedOut: false })
    expect((await output.next()).done).toBe(true)
  })

  test('a command without input sees the end of file', async () => {
    const process = await sandbox.spawn(['cat'])
    expect(await process.wait()).toMatchObject({ exitCode: 0 })
  })

  test('kill ends the whole tree; with a grace, SIGTERM comes first', async () => {
    const stubborn = await sandbox.spawn([
      'sh',
      '-c',
      'trap "echo asked" TERM; sleep 985 & while :; do wait; done',
    ])
    await new Promise((resolve) => setTimeout(resolve, 200))
    await stubborn.kill({ graceMs: 500 })
    expect(await stubborn.wait()).toMatchObject({ signal: 'SIGKILL', exitCode: null })
    expect(await textOf(stubborn.stdout)).toContain('asked')
    const left = await sandbox.exec([
      'sh',
      '-c',
      'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 98[5]"',
    ])
    expect(left.stdout).toBe('0\n')
  })

  test('a deadline ends it and says so', async () => {
    const process = await sandbox.spawn(['sleep', '984'], { timeoutMs: 300 })
    expect(await process.wait()).toMatchObject({ timedOut: true, exitCode: null })
  })

  test('a command that cannot be started says so when waited for', async () => {
    const process = await sandbox.spawn(['no-such-program'])
    expect(await process.wait()).toMatchObject({ exitCode: null, launchError: { kind: 'not-found' } })
  })

  test('a terminal is one, has the size asked for and can be resized', async () => {
    const process = await sandbox.spawn(['sh', '-c', 'tty -s && stty size; read -r _; stty size'], {
      pty: { columns: 91, rows: 17 },
      stdin: true,
    })
    const output = process.stdout[Symbol.asyncIterator]()
    let text = ''
    while (!text.includes('\n')) text += Buffer.from((await output.next()).value).toString()
    await process.resize(120, 40)
    await process.write('\n')
    expect(await process.wait()).toMatchObject({ exitCode: 0 })
    for (let next = await output.next(); !next.done; next = await output.next()) {
      text += Buffer.from(next.value).toString()
    }
    expect(text).toContain('17 91')
    expect(text).toContain('40 120')
  })

  test('the shell command is one that docker takes', () => {
    expect(sandbox.shellCommand()).toMatch(/^docker .*exec -it bj-docker-tes-\S+ sh$/)
  })
})
