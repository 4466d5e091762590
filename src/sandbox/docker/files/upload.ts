import { stat } from 'node:fs/promises'
import { basename, dirname, posix } from 'node:path'
import type { Readable } from 'node:stream'
import tar from 'tar-fs'
import { ConfigError, SandboxFileError } from '../../../errors.ts'
import type { UploadOptions } from '../../sandbox.ts'
import { call } from '../engine/call.ts'
import { runCommand } from '../exec/run-command.ts'
import { FILE_DEADLINE_MS, type FileContext, fileError, replaced, runFileScript } from './file-calls.ts'

interface Target {
  readonly hasTar: boolean
  readonly uid: number
  readonly gid: number
  readonly folder: string
}

/** Makes the folder as the acting user, who so owns it, and finds out what they may do there. */
async function prepareTarget(context: FileContext, folder: string, options: UploadOptions): Promise<Target> {
  const { stdout } = await runFileScript(context, 'target', { ...options, path: folder })
  const [hasTar, uid, gid, ...rest] = stdout.split(' ')
  return {
    hasTar: hasTar === '1',
    uid: Number(uid),
    gid: Number(gid),
    folder: rest.join(' ').replace(/\n$/, ''),
  }
}

function packed(hostPath: string, isDirectory: boolean, entry: { name: string; mode?: number } & Target) {
  const root = isDirectory ? hostPath : dirname(hostPath)
  const single = basename(hostPath)
  return tar.pack(root, {
    ...(isDirectory ? {} : { entries: [single], dereference: true }),
    map: (header) => {
      if (!isDirectory) header.name = entry.name
      if (entry.mode !== undefined && header.type === 'file') header.mode = entry.mode
      header.uid = entry.uid
      header.gid = entry.gid
      return header
    },
  }) as unknown as Readable
}

async function hostKind(hostPath: string): Promise<'file' | 'directory'> {
  const facts = await stat(hostPath).catch((cause: unknown) => {
    throw new ConfigError('there is no such file or folder to upload', { where: hostPath, cause })
  })
  if (facts.isDirectory()) return 'directory'
  if (facts.isFile()) return 'file'
  throw new ConfigError('only a file or a folder can be uploaded', { where: hostPath })
}

/** Copies a file or folder of the host into the sandbox, as the acting user where the image has `tar`. */
export async function upload(
  context: FileContext,
  hostPath: string,
  options: UploadOptions & { path: string },
): Promise<void> {
  const isDirectory = (await hostKind(hostPath)) === 'directory'
  const path = options.path
  if (options.replace) await replaced(context, path, { ...options, isFolder: isDirectory })
  if (!isDirectory) await refuseDirectory(context, path, options)
  const folder = isDirectory ? path : posix.dirname(path)
  const target = await prepareTarget(context, folder, options)
  const archive = packed(hostPath, isDirectory, { ...target, ...options, name: posix.basename(path) })
  if (target.hasTar) await extractThere(context, archive, { target, options })
  else await putArchive(context, archive, { target, options })
}

async function refuseDirectory(context: FileContext, path: string, options: UploadOptions): Promise<void> {
  try {
    const facts = await runFileScript(context, 'stat', { ...options, path })
    const rawMode = Number.parseInt(facts.stdout.split(' ')[0] ?? '', 16)
    if ((rawMode & 0o170000) === 0o040000) throw fileError(context, { path, exitCode: 62, detail: '' })
  } catch (error) {
    if (!(error instanceof SandboxFileError) || error.kind !== 'not-found') throw error
  }
}

interface Transfer {
  readonly target: Target
  readonly options: UploadOptions & { path: string }
}

/** `-o`: what arrives is the acting user's, root included; `-p`: modes as sent. */
async function extractThere(
  context: FileContext,
  archive: Readable,
  { target, options }: Transfer,
): Promise<void> {
  const argv = ['tar', '-x', '-o', '-p', '-f', '-', '-C', target.folder]
  const result = await runCommand(context.container, argv, {
    commands: context.commands,
    inputStream: archive,
    timeoutMs: FILE_DEADLINE_MS,
    ...(options.user !== undefined && { user: options.user }),
    ...(options.signal && { signal: options.signal }),
  })
  if (result.exitCode === 0) return
  const detail = result.launchError?.message ?? result.stderr.trim().slice(-500)
  throw fileError(context, { path: options.path, exitCode: null, detail })
}

/** Without `tar` the daemon unpacks, which no permission stops: only root may have that. */
async function putArchive(
  context: FileContext,
  archive: Readable,
  { target, options }: Transfer,
): Promise<void> {
  if (target.uid !== 0) {
    const detail = 'the image has no tar, which an upload by a user other than root needs'
    throw fileError(context, { path: options.path, exitCode: null, detail })
  }
  try {
    await call('uploading', { signal: options.signal, deadlineMs: FILE_DEADLINE_MS }, (abortSignal) =>
      context.container.streams.putArchive(archive, { path: target.folder, abortSignal }),
    )
  } finally {
    archive.destroy()
  }
}
