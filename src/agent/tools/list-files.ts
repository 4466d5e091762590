import { posix } from 'node:path'
import { z } from 'zod'
import { SandboxFileError } from '../../errors.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { cappedText } from '../output-text.ts'
import { defineTool, type Tool } from '../tool.ts'
import type { FileToolOptions } from './read-file.ts'
import { DEFAULT_SHOWN, sandboxOf } from './shown-command.ts'

const MAX_ENTRIES = 2000

const parameters = z.object({
  path: z.string().default('.'),
  depth: z.int().min(1).max(10).default(2).describe('How many levels of folders to show.'),
})

/** A tool that lists folders, as the service's user. Needs nothing in the image. */
export function listFiles(options: FileToolOptions = {}): Tool {
  const { maxOutputCharacters = DEFAULT_SHOWN, user } = options
  return defineTool({
    name: 'list_files',
    description:
      'Lists the files and folders in a folder; folders end with a slash, files have their size in bytes.',
    parameters,
    async execute({ path, depth }, context) {
      const lines = await listing(sandboxOf(options, context), path, { depth, user, signal: context.signal })
      return cappedText(lines.join('\n'), maxOutputCharacters) || '[the folder is empty]'
    },
  })
}

interface ListingOptions {
  readonly depth: number
  readonly user?: string | undefined
  readonly signal?: AbortSignal
}

/** Folders that may not be read are named as such; links are not followed. @throws SandboxFileError for `path` itself */
export async function listing(sandbox: Sandbox, path: string, options: ListingOptions): Promise<string[]> {
  const { depth, ...call } = options
  const lines: string[] = []
  const visit = async (folder: string, prefix: string, level: number): Promise<void> => {
    for (const { name, type, size } of await sandbox.list(folder, call)) {
      if (lines.length >= MAX_ENTRIES) return
      if (type !== 'directory') {
        lines.push(`${prefix}${name}${type === 'file' ? `  ${size}` : `  [${type}]`}`)
        continue
      }
      lines.push(`${prefix}${name}/`)
      if (level < depth)
        await visit(posix.join(folder, name), `${prefix}${name}/`, level + 1).catch((error: unknown) => {
          if (!(error instanceof SandboxFileError)) throw error
          lines.push(`${prefix}${name}/  [${error.kind}]`)
        })
    }
  }
  await visit(path, '', 1)
  if (lines.length >= MAX_ENTRIES) lines.push(`[more than ${MAX_ENTRIES} entries]`)
  return lines
}
