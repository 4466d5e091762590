import { createReadStream } from 'node:fs'
import { stat as hostStat } from 'node:fs/promises'
import { pack } from 'tar-fs'
import { SandboxFileError } from '../../errors.ts'
import { DEFAULT_MAX_ENTRIES, type DownloadOptions, type UploadOptions } from '../sandbox.ts'
import { FieldWriter } from './fields.ts'
import { checkFileAnswer } from './file-error.ts'
import { fileExchange, STREAM_CREDIT } from './file-exchange.ts'
import { type GuestFiles, pathFields, stat, writeFile } from './files.ts'
import { extractToHost, TooManyEntriesError, UnsafeArchiveError, writeToHost } from './host-tree.ts'
import { FrameType, Tag } from './protocol.ts'

export interface Transfer {
  readonly hostPath: string
  readonly path: string
}

const DEFAULT_MAX_DOWNLOAD_BYTES = 1024 * 1024 * 1024

/** A file goes to `path` itself, the content of a folder into the folder `path`. */
export async function upload(
  files: GuestFiles,
  transfer: Transfer,
  options: UploadOptions = {},
): Promise<void> {
  const source = await hostStat(transfer.hostPath)
  if (!source.isDirectory()) {
    const mode = options.mode ?? source.mode & 0o777
    const content = createReadStream(transfer.hostPath, { highWaterMark: 256 * 1024 })
    await writeFile(files, { path: transfer.path, content }, { ...options, mode })
    return
  }
  const content = pack(transfer.hostPath, {
    map: (header) => {
      if (options.mode !== undefined && header.type === 'file') header.mode = options.mode
      return header
    },
  })
  try {
    const answer = await fileExchange(files.connection, {
      type: FrameType.unpack,
      fields: pathFields(transfer.path, options).add(Tag.replace, options.replace).finish(),
      signal: options.signal,
      content: content as AsyncIterable<Uint8Array>,
    })
    checkFileAnswer(answer, transfer.path, files.service)
  } finally {
    content.destroy()
  }
}

export async function download(
  files: GuestFiles,
  transfer: Transfer,
  options: DownloadOptions = {},
): Promise<void> {
  const { path, hostPath } = transfer
  const source = await stat(files, path, options)
  const isFolder = source.type === 'directory'
  const { maxBytes: limit = DEFAULT_MAX_DOWNLOAD_BYTES, maxEntries = DEFAULT_MAX_ENTRIES } = options
  const extra = new FieldWriter().add(Tag.limit, limit).add(Tag.credit, STREAM_CREDIT).finish()
  const answer = await fileExchange(files.connection, {
    type: isFolder ? FrameType.pack : FrameType.read,
    fields: Buffer.concat([pathFields(path, options).finish(), extra]),
    signal: options.signal,
    receive: (data) =>
      isFolder
        ? extractToHost(data, hostPath, { maxEntries, signal: options.signal })
        : writeToHost(data, hostPath, source.mode),
  }).catch((error: unknown) => {
    const isTooMuch = error instanceof TooManyEntriesError
    if (!isTooMuch && !(error instanceof UnsafeArchiveError)) throw error
    throw new SandboxFileError(`${path}: ${error.message}`, {
      kind: isTooMuch ? 'too-large' : 'invalid-path',
      path,
      service: files.service,
      cause: error,
    })
  })
  checkFileAnswer(answer, path, files.service)
}
