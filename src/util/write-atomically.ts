import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'

/** Whoever reads the file finds what was there before or all of the text, also after a crash. */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const part = `${path}.${randomBytes(4).toString('hex')}.part`
  try {
    const file = await open(part, 'wx')
    try {
      await file.writeFile(text)
      await file.datasync()
    } finally {
      await file.close()
    }
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
