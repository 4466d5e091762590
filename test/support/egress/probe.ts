import { readFile } from 'node:fs/promises'
import { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'

const PROGRAM = fileURLToPath(new URL('probe.pl', import.meta.url))

/** What came of trying one way out of a sandbox whose image has perl. */
export async function probe(sandbox: Sandbox | undefined, ...words: string[]): Promise<string> {
  if (!sandbox) throw new Error('there is no such service')
  const script = await readFile(PROGRAM, 'utf8')
  const { stdout, stderr } = await sandbox.exec(['perl', '-e', script, ...words], { timeoutMs: 20_000 })
  return `${stdout}${stderr}`.trim()
}

/** Answers whoever connects to a port of a sandbox, until the sandbox ends. */
export async function listen(sandbox: Sandbox | undefined, port: number, answer: string): Promise<void> {
  const script = await readFile(PROGRAM, 'utf8')
  await sandbox?.spawn(['perl', '-e', script, 'listen', String(port), answer])
}

/** What a TLS client says first to a host, as hexadecimal digits. */
export async function clientHello(servername: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        done()
        resolve(chunk.toString('hex'))
      },
    })
    connect({ socket, servername }).on('error', () => undefined)
  })
}
