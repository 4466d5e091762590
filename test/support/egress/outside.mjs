// What lies outside of a sandbox, in the network namespace of an engine: web servers on every address, and a resolver that
// tells whoever started this of each name that it was asked for. Addresses to resolve at are the arguments.
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

const ADDRESSES = {
  'allowed.example': '203.0.113.10',
  'deep.suffix.example': '203.0.113.10',
  'forbidden.example': '203.0.113.20',
  'inward.suffix.example': '169.254.169.254',
  'private.suffix.example': '10.99.99.99',
}

function nameIn(query) {
  const labels = []
  for (let at = 12; query[at] > 0; at += query[at] + 1) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]))
  }
  return labels.join('.').toLowerCase()
}

function answer(query, name) {
  const questionEnd = query.indexOf(0, 12) + 5
  const isAddress = query.readUInt16BE(questionEnd - 4) === 1
  const address = isAddress ? ADDRESSES[name] : undefined
  const head = Buffer.from(query.subarray(0, questionEnd))
  head.writeUInt16BE(0x8180 | (ADDRESSES[name] ? 0 : 3), 2)
  head.writeUInt16BE(address ? 1 : 0, 6)
  head.writeUInt32BE(0, 8)
  if (!address) return head
  return Buffer.concat([
    head,
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, ...address.split('.').map(Number)]),
  ])
}

async function resolver(address) {
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const name = nameIn(query)
    process.stdout.write(`asked ${name}\n`)
    socket.send(answer(query, name), from.port, from.address)
  })
  await new Promise((resolve) => socket.bind(53, address, resolve))
}

/** Answers with its own address and the first line and host that it was asked for; says at once who it is where nothing else is said first. */
async function server(port) {
  const listening = createServer((socket) => {
    socket.on('error', () => undefined)
    let said = ''
    socket.on('data', (data) => {
      said += data.toString('latin1')
      const isHttp = /^[A-Z]+( |$)/.test(said)
      if (isHttp && !said.includes('\r\n\r\n')) return
      socket.removeAllListeners('data')
      const [line = ''] = said.split('\r\n')
      const host = /^host: (.*)$/im.exec(said)?.[1]?.trim() ?? ''
      const body = `outside ${socket.localAddress?.replace('::ffff:', '')} ${line.slice(0, 40)} host=${host}\n`
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`)
    })
  })
  await new Promise((resolve) => listening.listen(port, '::', resolve))
}

await Promise.all([server(80), server(443), server(8080), ...process.argv.slice(2).map(resolver)])
process.stdout.write('ready\n')
