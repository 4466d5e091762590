import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { Sandbox } from '../../../../src/sandbox/sandbox.ts'
import { guestBinary, hasGuest, runGuest } from './guest-process.ts'

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** A port in the sandbox whose connections are served by `answer`. */
async function serve(sandbox: Sandbox, answer: (body: Buffer) => Uint8Array | string) {
  const server = createServer(async (request, response) => {
    response.end(answer(await buffer(request)))
  })
  const listener = await sandbox.listen((connection) => server.emit('connection', connection))
  return { listener, url: `http://127.0.0.1:${listener.port}/` }
}

describe.skipIf(!hasGuest)('a port inside a sandbox', () => {
  it('leads to a server of this process, many connections at once, large bodies both ways', async () => {
    await using guest = await runGuest()
    const { listener, url } = await serve(guest.sandbox, (body) => body)
    await using _closed = listener
    const bodies = Array.from({ length: 12 }, (_, index) => randomBytes(index * 400_000))
    const answers = await Promise.all(
      bodies.map(async (body) => {
        const response = await fetch(url, { method: 'POST', body })
        return Buffer.from(await response.arrayBuffer())
      }),
    )
    expect(answers.map(digest)).toEqual(bodies.map(digest))
  })

  it('keeps half-closed connections, and a reader that is slow holds back only itself', async () => {
    await using guest = await runGuest()
    const served: Duplex[] = []
    await using listener = await guest.sandbox.listen((connection) => {
      served.push(connection)
      connection.on('end', () => connection.end('the end'))
      connection.resume()
      connection.write(Buffer.alloc(4 * 1024 * 1024, 'a'))
    })
    const slow = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true })
    const quick = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true })
    quick.end('request')
    const text = (await buffer(quick)).toString()
    expect(text.length).toBe(4 * 1024 * 1024 + 'the end'.length)
    expect(text.endsWith('athe end')).toBe(true)
    slow.end()
    expect((await buffer(slow)).length).toBe(text.length)
    expect(served).toHaveLength(2)
  })

  it('closes with its listener, by abort, and when the sandbox goes, and a refused port is said', async () => {
    await using guest = await runGuest()
    const first = await guest.sandbox.listen((connection) => connection.destroy())
    await expect(guest.sandbox.listen(() => undefined, { port: first.port })).rejects.toMatchObject({
      code: 'unsupported',
      message: 'the port is in use inside the sandbox already',
    })
    await first[Symbol.asyncDispose]()
    await first.closed
    await expect(fetch(`http://127.0.0.1:${first.port}/`)).rejects.toThrow('fetch failed')
    const controller = new AbortController()
    const second = await guest.sandbox.listen(() => undefined, { signal: controller.signal })
    controller.abort()
    await second.closed
    const third = await guest.sandbox.listen(() => undefined)
    guest.child.kill('SIGKILL')
    await expect(third.closed).rejects.toMatchObject({ code: 'sandbox-unavailable' })
  })

  it('tells connections that the relay was killed from inside', async () => {
    await using guest = await runGuest()
    const served: Duplex[] = []
    const listener = await guest.sandbox.listen((connection) => served.push(connection))
    const client = connect(listener.port, '127.0.0.1').on('error', () => undefined)
    await new Promise((resolve) => client.once('connect', resolve))
    await guest.sandbox.exec(['pkill', '-9', '-f', `^${guestBinary} --relay`])
    await expect(listener.closed).rejects.toMatchObject({ code: 'sandbox-unavailable', reason: 'killed' })
    await expect.poll(() => served[0]?.destroyed ?? true).toBe(true)
  })
})
