import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { findGuestBinary, guestArchitecture } from '../../guest/binary.ts'
import { noteUse } from '../cache/note-use.ts'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { CACHE_LABEL } from '../identity/labels.ts'
import { inspectImage } from '../image/images.ts'

const REPOSITORY = 'belljar-cache'

/** An image of the guest alone, imported when it is not there; undefined where no guest runs. @throws EngineError */
export async function anchorImage(engine: Engine): Promise<string | undefined> {
  const { os, architecture: name } = engine.facts
  const architecture = os === 'linux' ? guestArchitecture(name) : undefined
  const path = architecture && findGuestBinary(architecture)
  if (!path) return undefined
  const binary = await readFile(path)
  const hash = createHash('sha256').update(binary).digest('hex').slice(0, 16)
  const reference = `${REPOSITORY}:guest-${hash}`
  if (await inspectImage(engine, reference)) await noteUse(engine, reference)
  else await importGuest(engine, { binary, hash })
  return reference
}

async function importGuest(engine: Engine, guest: { binary: Buffer; hash: string }): Promise<void> {
  const archive = pack()
  archive.entry({ name: 'guest', mode: 0o755 }, guest.binary)
  archive.finalize()
  const options = {
    repo: REPOSITORY,
    tag: `guest-${guest.hash}`,
    changes: [`LABEL ${CACHE_LABEL}=guest-${guest.hash}`, 'ENTRYPOINT ["/guest"]'],
  }
  await call('importing the guest', {}, async () => {
    const body = archive as unknown as NodeJS.ReadableStream
    await text(await engine.streams.importImage(body, options))
  })
}
