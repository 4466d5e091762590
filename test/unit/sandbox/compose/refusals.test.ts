import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../../src/errors.ts'
import { resolveCompose } from '../../../../src/sandbox/compose/resolve.ts'

const corpus = fileURLToPath(new URL('../../../../compose', import.meta.url))
const folder = join(corpus, 'invalid')
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))

/** What the comments at the top of a file say: place and the name that would allow it. */
function expectedRefusals(name: string): string[] {
  const text = readFileSync(join(folder, name), 'utf8')
  return [...text.matchAll(/^# refused: (.*)$/gm)]
    .map((match) => (match[1] ?? '').replaceAll('CORPUS', corpus))
    .sort()
}

async function messageOf(name: string): Promise<string> {
  const outcome = await resolveCompose(name, { taskDirectory: folder }).then(
    () => 'resolved',
    (error: unknown) => error,
  )
  if (outcome === 'resolved') return outcome
  expect(outcome).toBeInstanceOf(ConfigError)
  return (outcome as ConfigError).message
}

function refusalsIn(message: string): string[] {
  return [...message.matchAll(/^ {2}(\S.*?): .*\(allow: '(.*)'\)$/gm)].map((match) => placeOf(match)).sort()
}

function placeOf([line, place, allow]: RegExpMatchArray): string {
  // A place in another file begins with that file, which ends in a colon too.
  const inFile = /^ {2}(\/\S+\.yaml: \S+): /.exec(line ?? '')
  return `${inFile?.[1] ?? place} ${allow}`
}

describe.concurrent('a compose file that is to be refused', () => {
  it.each(files)('%s is refused for exactly what its comments name', async (name) => {
    const expected = expectedRefusals(name)
    expect(expected.length).toBeGreaterThan(0)
    expect(refusalsIn(await messageOf(name))).toEqual(expected)
  })
})
