import type { IncomingMessage } from 'node:http'
import { createConnection, type Socket } from 'node:net'
import { type Duplex, Transform } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { type Fault, GARBAGE, piecesOf } from './docker-faults.ts'

interface Tunnelling {
  /** Socket of the engine. */
  readonly target: string
  /** What came after the call's header. */
  readonly head: Buffer
  readonly fault: Fault | undefined
}

/** Sends an upgraded call on byte by byte, as the body of such a call may come at any time. Returns both ends. */
export function tunnel(
  call: IncomingMessage,
  client: Duplex,
  { target, head, fault }: Tunnelling,
): readonly Duplex[] {
  client.on('error', () => client.destroy())
  if (fault?.kind === 'hang') return [client.resume()]
  if (fault?.kind === 'drop-before') return [client.destroy()]
  if (fault?.kind === 'answer') return [client.end(refusal(fault))]
  const engine = createConnection({ path: target, allowHalfOpen: true })
  const start = Buffer.concat([headerOf(call), head])
  if (fault?.kind === 'delay-call') setTimeout(() => sendOn(client, engine, start), fault.ms)
  else sendOn(client, engine, start)
  if (fault?.kind === 'duplicate') sendTwice(target, start)
  answerThrough(client, engine, fault)
  for (const [one, other] of [
    [client, engine],
    [engine, client],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
  }
  return [client, engine]
}

function headerOf({ method, url, rawHeaders }: IncomingMessage): Buffer {
  const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`))
  return Buffer.from(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`)
}

function refusal({ status, body }: Extract<Fault, { kind: 'answer' }>): string {
  const head = `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\nconnection: close\r\n`
  return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

/** The header and what came with it in one write, as the client sent it: the Engine takes what follows the end of an empty body for input. */
function sendOn(client: Duplex, engine: Socket, start: Buffer): void {
  engine.write(start)
  client.pipe(engine)
}

function sendTwice(target: string, start: Buffer): void {
  const again = createConnection({ path: target })
  again.on('error', () => undefined).resume()
  again.write(start)
  setTimeout(() => again.destroy(), 1000)
}

function answerThrough(client: Duplex, engine: Socket, fault: Fault | undefined): void {
  switch (fault?.kind) {
    case 'drop-after':
      return void engine.once('data', () => client.destroy())
    case 'garbage':
      return void engine.once('data', () => client.end(GARBAGE))
    case 'delay-reply':
      return void setTimeout(() => engine.pipe(client), fault.ms)
    case 'slow':
      return void engine.pipe(inPieces(fault)).pipe(client)
    case 'reset':
    case 'truncate':
    case 'stall':
      breakOff(client, engine, fault)
      return
    default:
      engine.pipe(client)
  }
}

function inPieces({ bytes, ms }: Extract<Fault, { kind: 'slow' }>): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      void (async () => {
        for (const piece of piecesOf(chunk, bytes)) {
          await pause(ms)
          this.push(piece)
        }
      })().then(() => done(), done)
    },
  })
}

function breakOff(
  client: Duplex,
  engine: Socket,
  { kind, afterBytes }: Extract<Fault, { afterBytes: number }>,
): void {
  let left = afterBytes
  engine.on('data', (chunk: Buffer) => {
    if (left > 0) client.write(chunk.subarray(0, left))
    left -= chunk.length
    if (left > 0) return
    if (kind === 'reset') client.destroy()
    else if (kind === 'truncate') client.end()
  })
  if (kind !== 'stall') engine.on('end', () => client.end())
}
