import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { resolveCompose } from '../../../src/sandbox/compose/resolve.ts'

const corpus = fileURLToPath(new URL('../../../compose', import.meta.url))
const folder = join(corpus, 'invalid')
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))

function refusedNames(name: string): string[] {
  const text = readFileSync(join(folder, name), 'utf8').replaceAll('CORPUS', corpus)
  return [...text.matchAll(/^# refused: .* (\S+)$/gm)].flatMap((match) => match[1] ?? [])
}

/** Compose may still reject some: what they name does not exist on this machine. */
async function outcome(name: string, allow: string[]): Promise<string> {
  return resolveCompose(name, { taskDirectory: folder, allow }).then(() => 'resolved', String)
}

describe.concurrent('a compose file that is to be refused', () => {
  it.each(files)('%s is not refused once every name is allowed', async (name) => {
    expect(await outcome(name, refusedNames(name))).not.toContain('refused, unless')
  })
})
