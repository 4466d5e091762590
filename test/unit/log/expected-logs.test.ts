import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { KINDS, logOfKind } from '../../support/log-kinds.ts'
import { outlineOf } from '../../support/log-outline.ts'
import { tempDir } from '../../support/temp-dir.ts'

const EXPECTED = join(import.meta.dirname, '../../corpus/expected-logs')

describe('the finished log', () => {
  it.each(Object.keys(KINDS))('of a run of kind %s says what is written down of it', async (kind) => {
    await using directory = await tempDir()
    const outline = await outlineOf(await logOfKind(kind, directory.path))
    await expect(outline).toMatchFileSnapshot(join(EXPECTED, `${kind}.json`))
  })
})
