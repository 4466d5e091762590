import { open, rm } from 'node:fs/promises'
import { ConfigError, errorMessage } from '../../errors.ts'
import { convertLog, type LogFormat } from '../../log/convert/convert-log.ts'
import { EXIT_CODES } from '../exit-code.ts'

/** `belljar log convert LOG --to FORMAT` */
export async function writeConverted(
  path: string,
  { to, out }: { to: LogFormat; out?: string },
): Promise<number> {
  const pieces = convertLog(path, to)
  if (out === undefined) await toStdout(pieces)
  else await toFile(pieces, out)
  return EXIT_CODES.success
}

async function toStdout(pieces: AsyncIterable<string>): Promise<void> {
  const { stdout } = process
  stdout.on('error', () => stdout.destroy())
  for await (const piece of pieces) {
    if (stdout.destroyed) return
    if (!stdout.write(piece)) await drained(stdout)
  }
}

/** An unfinished file is removed. @throws ConfigError */
async function toFile(pieces: AsyncIterable<string>, path: string): Promise<void> {
  const file = await open(path, 'wx').catch((error: unknown) => {
    throw new ConfigError(`cannot be written: ${errorMessage(error)}`, { where: path, cause: error })
  })
  try {
    for await (const piece of pieces) await file.appendFile(piece)
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/** Also resolves when the reader has gone away. */
function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stream.off('drain', settle).off('close', settle)
      resolve()
    }
    stream.on('drain', settle).on('close', settle)
  })
}
