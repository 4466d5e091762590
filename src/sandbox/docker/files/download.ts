import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DEFAULT_MAX_ENTRIES, type DownloadOptions, type ExecResult } from '../../sandbox.ts'
import { runCommand } from '../exec/run-command.ts'
import { FILE_DEADLINE_MS, type FileContext, fileError, statFile } from './file-calls.ts'
import { scriptPath } from './path.ts'
import { extractSafely, RefusedEntriesError } from './safe-extract.ts'
import { scriptCommand } from './scripts.ts'

const DEFAULT_MAX_BYTES = 1024 ** 3

type Download = DownloadOptions & { readonly hostPath: string }

/** Copies a file or folder out. What the sandbox sends decides nothing about where on the host it lands. */
export async function download(context: FileContext, path: string, options: Download): Promise<void> {
  const { type, size } = await statFile(context, path, options)
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES
  if (type === 'file') {
    if (size > maxBytes) throw tooLarge(context, path, maxBytes)
    return downloadFile(context, path, { ...options, maxBytes })
  }
  if (type !== 'directory') throw fileError(context, { path, exitCode: 63, detail: '' })
  return downloadFolder(context, path, { ...options, maxBytes })
}

function tooLarge(context: FileContext, path: string, maxBytes: number): Error {
  return fileError(context, { path, exitCode: 64, detail: `over ${maxBytes} bytes` })
}

/** Streams a command's output into `take`; over the cap the command is stopped. */
async function receive(
  context: FileContext,
  argv: readonly string[],
  transfer: Download & { path: string; maxBytes: number; take: (source: PassThrough) => Promise<void> },
): Promise<void> {
  const source = new PassThrough()
  const stop = new AbortController()
  const signal = transfer.signal ? AbortSignal.any([transfer.signal, stop.signal]) : stop.signal
  let bytes = 0
  const taken = transfer.take(source).catch((error: unknown) => {
    stop.abort(error)
    throw error
  })
  taken.catch(() => undefined)
  const run = runCommand(context.container, argv, {
    commands: context.commands,
    signal,
    timeoutMs: FILE_DEADLINE_MS,
    ...(transfer.user !== undefined && { user: transfer.user }),
    onStdout: (data) => {
      bytes += data.length
      if (bytes > transfer.maxBytes) stop.abort(tooLarge(context, transfer.path, transfer.maxBytes))
      else if (!source.destroyed) source.write(Buffer.from(data))
    },
  })
  let result: ExecResult
  try {
    result = await run
  } catch (error) {
    source.destroy(error as Error)
    await taken.catch(() => undefined)
    throw stop.signal.aborted ? stop.signal.reason : error
  }
  source.end()
  if (result.exitCode !== 0) {
    source.destroy(new Error('the source failed'))
    await taken.catch(() => undefined)
    const detail = result.launchError?.message ?? result.stderr.trim().slice(-500)
    throw fileError(context, { path: transfer.path, exitCode: result.exitCode, detail })
  }
  await taken
}

async function downloadFile(
  context: FileContext,
  path: string,
  options: Download & { maxBytes: number },
): Promise<void> {
  const { hostPath, maxBytes } = options
  const partial = `${hostPath}.belljar-partial`
  await mkdir(dirname(hostPath), { recursive: true })
  const argv = scriptCommand('read', [scriptPath(path, context.container.service), 0, -1, maxBytes])
  const take = (source: PassThrough) => pipeline(source, createWriteStream(partial, { flags: 'wx' }))
  try {
    await receive(context, argv, { ...options, path, take })
    await rename(partial, hostPath)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

async function downloadFolder(
  context: FileContext,
  path: string,
  options: Download & { maxBytes: number },
): Promise<void> {
  const { hostPath, maxBytes, maxEntries = DEFAULT_MAX_ENTRIES } = options
  // tar follows a link that is named with a trailing slash.
  const folder = `${scriptPath(path, context.container.service)}/`
  const argv = ['tar', '-c', '-f', '-', '-C', folder, '.']
  const take = (source: PassThrough) => extractSafely(source, { folder: hostPath, maxBytes, maxEntries })
  try {
    // Headers and padding of many small files come on top of their bytes, which extraction counts.
    await receive(context, argv, { ...options, path, maxBytes: maxBytes * 2 + 1024 ** 2, take })
  } catch (error) {
    if (!(error instanceof RefusedEntriesError)) throw error
    if (options.skipUnsafe && !error.tooLarge) return
    throw fileError(context, { path, exitCode: error.tooLarge ? 64 : null, detail: error.message })
  }
}
