import { SandboxFileError } from '../../errors.ts'
import {
  DEFAULT_MAX_READ_BYTES,
  type FileEntry,
  type FileStat,
  type FileType,
  type ReadOptions,
  type RemoveOptions,
  type UserOptions,
  type WriteOptions,
} from '../sandbox.ts'
import type { GuestConnection } from './connection.ts'
import { type FieldReader, FieldWriter, fieldNumber, readFields } from './fields.ts'
import { checkFileAnswer } from './file-error.ts'
import { fileExchange } from './file-exchange.ts'
import { FrameType, Tag } from './protocol.ts'

/** A connection, and what every file error names. */
export interface GuestFiles {
  readonly connection: GuestConnection
  readonly service: string
}

export function pathFields(path: string, options: UserOptions): FieldWriter {
  return new FieldWriter().add(Tag.path, path).add(Tag.user, options.user)
}

export async function readFile(
  files: GuestFiles,
  path: string,
  options: ReadOptions = {},
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  const fields = pathFields(path, options)
    .add(Tag.limit, options.maxBytes ?? DEFAULT_MAX_READ_BYTES)
    .add(Tag.offset, options.offset)
    .add(Tag.length, options.length)
    .finish()
  const receive = async (data: AsyncIterable<Uint8Array>) => {
    for await (const chunk of data) chunks.push(chunk)
  }
  const answer = await fileExchange(files.connection, {
    type: FrameType.read,
    fields,
    signal: options.signal,
    receive,
  })
  checkFileAnswer(answer, path, files.service)
  return Buffer.concat(chunks)
}

export interface WriteRequest {
  readonly path: string
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

export async function writeFile(
  files: GuestFiles,
  write: WriteRequest,
  options: WriteOptions = {},
): Promise<void> {
  const fields = pathFields(write.path, options)
    .add(Tag.mode, options.mode)
    .add(Tag.append, options.append)
    .add(Tag.replace, options.replace)
    .add(Tag.parents, true)
    .finish()
  const request = { type: FrameType.write, fields, signal: options.signal, content: write.content }
  checkFileAnswer(await fileExchange(files.connection, request), write.path, files.service)
}

export async function stat(files: GuestFiles, path: string, options: UserOptions = {}): Promise<FileStat> {
  const fields = await simple(
    files,
    { type: FrameType.stat, path, fields: pathFields(path, options) },
    options,
  )
  return {
    type: (fields.text(Tag.kind) ?? 'file') as FileType,
    size: fields.number(Tag.size) ?? 0,
    mode: fields.number(Tag.mode) ?? 0,
    uid: fields.number(Tag.uid) ?? 0,
    gid: fields.number(Tag.gid) ?? 0,
    modifiedMs: Math.floor((fields.number(Tag.mtimeNs) ?? 0) / 1e6),
  }
}

export async function list(files: GuestFiles, path: string, options: UserOptions = {}): Promise<FileEntry[]> {
  const chunks: Uint8Array[] = []
  const answer = await fileExchange(files.connection, {
    type: FrameType.list,
    fields: pathFields(path, options).finish(),
    signal: options.signal,
    receive: async (data) => {
      for await (const chunk of data) chunks.push(chunk)
    },
  })
  checkFileAnswer(answer, path, files.service)
  return readEntries(Buffer.concat(chunks))
}

function readEntries(bytes: Buffer): FileEntry[] {
  const entries: Array<{ name: string; type: FileType; size: number; mode: number }> = []
  for (const field of readFields(bytes)) {
    const entry = entries.at(-1)
    if (field.tag === Tag.name) entries.push({ name: field.bytes.toString(), type: 'file', size: 0, mode: 0 })
    else if (entry && field.tag === Tag.kind) entry.type = field.bytes.toString() as FileType
    else if (entry && field.tag === Tag.size) entry.size = fieldNumber(field.bytes)
    else if (entry && field.tag === Tag.mode) entry.mode = fieldNumber(field.bytes)
  }
  return entries.sort((left, right) => (left.name < right.name ? -1 : 1))
}

export async function remove(files: GuestFiles, path: string, options: RemoveOptions = {}): Promise<void> {
  const plain = path.replace(/\/+$/, '')
  if (plain === '' || /(^|\/)\.{1,2}$/.test(plain)) {
    const message = `${JSON.stringify(path)} cannot be removed`
    throw new SandboxFileError(message, { kind: 'invalid-path', path, service: files.service })
  }
  const fields = pathFields(path, options).add(Tag.recursive, options.recursive)
  await simple(files, { type: FrameType.remove, path, fields }, options)
}

interface SimpleRequest {
  readonly type: number
  readonly path: string
  readonly fields: FieldWriter
}

async function simple(files: GuestFiles, request: SimpleRequest, options: UserOptions): Promise<FieldReader> {
  const { type, path, fields } = request
  const answer = await fileExchange(files.connection, {
    type,
    fields: fields.finish(),
    signal: options.signal,
  })
  return checkFileAnswer(answer, path, files.service)
}
