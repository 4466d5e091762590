import { readFile } from 'node:fs/promises'
import { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'

const PROGRAM = fileURLToPath(new URL('probe.pl', import.meta.url))

/** Tries one way out of a sandbox whose image has perl. */
export async function probeCommand(...words: string[]): Promise<string[]> {
  return ['perl', '-e', await readFile(PROGRAM, 'utf8'), ...words]
}

/** What came of trying it. */
export async function probe(sandbox: Sandbox | undefined, ...words: string[]): Promise<string> {
  if (!sandbox) throw new Error('there is no such service')
  const { stdout, stderr } = await sandbox.exec(await probeCommand(...words), { timeoutMs: 20_000 })
  return `${stdout}${stderr}`.trim()
}

/** Answers whoever connects to a port of a sandbox, until the sandbox ends. */
export async function listen(sandbox: Sandbox | undefined, port: number, answer: string): Promise<void> {
  await sandbox?.spawn(await probeCommand('listen', String(port), answer))
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
