import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { findGuestBinary, guestArchitecture } from '../../guest/binary.ts'
import { noteUse } from '../cache/note-use.ts'
import { call } from '../engine/call.ts'
import type { Engine } from '../engine/engine.ts'
import { CACHE_LABEL } from '../identity/labels.ts'
import { inspectImage } from './inspect-image.ts'

const REPOSITORY = 'belljar-cache'

/** An image of one of belljar's own programs alone, imported when it is not there; undefined where none is built for the engine. @throws EngineError */
export async function programImage(engine: Engine, program: 'guest' | 'egress'): Promise<string | undefined> {
  const { os, architecture: name } = engine.facts
  const architecture = os === 'linux' ? guestArchitecture(name) : undefined
  const path = architecture && findGuestBinary(architecture, program)
  if (!path) return undefined
  const binary = await readFile(path)
  const hash = createHash('sha256').update(binary).digest('hex').slice(0, 16)
  const tag = `${program}-${hash}`
  const reference = `${REPOSITORY}:${tag}`
  if (await inspectImage(engine, reference)) await noteUse(engine, reference)
  else await importProgram(engine, { program, binary, tag })
  return reference
}

async function importProgram(
  engine: Engine,
  { program, binary, tag }: { program: string; binary: Buffer; tag: string },
): Promise<void> {
  const archive = pack()
  archive.entry({ name: program, mode: 0o755 }, binary)
  archive.finalize()
  const options = {
    repo: REPOSITORY,
    tag,
    changes: [`LABEL ${CACHE_LABEL}=${tag}`, `ENTRYPOINT ["/${program}"]`],
  }
  await call(`importing the ${program} program`, {}, async () => {
    const body = archive as unknown as NodeJS.ReadableStream
    await text(await engine.streams.importImage(body, options))
  })
}
