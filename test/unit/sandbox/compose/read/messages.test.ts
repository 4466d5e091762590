// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are variables of compose files
import { describe, expect, it } from 'vitest'
import { findCompose } from '../../../../../src/sandbox/compose/read/plugin.ts'
import { readMessages } from '../../../../../src/sandbox/compose/read/run-config.ts'
import { bareVariables, metadataVariables } from '../../../../../src/sandbox/compose/read/variables.ts'

describe('Compose`s messages', () => {
  it('are told apart into unset variables, warnings and the rest', () => {
    const unset =
      'time="2026-01-01T00:00:00Z" level=warning msg="The \\"FOO\\" variable is not set. Defaulting to a blank string."'
    const other = 'time="2026-01-01T00:00:00Z" level=warning msg="something else"'
    const obsolete =
      'time="2026-01-01T00:00:00Z" level=warning msg="/f.yaml: the attribute `version` is obsolete, it will be ignored"'
    expect(readMessages([unset, unset, other, obsolete, 'services.a: wrong', ''].join('\n'))).toEqual({
      unset: ['FOO'],
      warnings: ['something else'],
      others: ['services.a: wrong', ''],
    })
  })
})

describe('finding Compose', () => {
  it('says what to install where there is none', async () => {
    await expect(findCompose({ folders: ['/nonexistent'], path: '/nonexistent' })).rejects.toThrow(
      /Docker Compose 2\.26 or newer is needed, found none; install the Compose plugin/,
    )
  })

  it('finds the one of this machine without the docker command line', async () => {
    const { version } = await findCompose({ path: '' })
    expect(version).toMatch(/^v?[2-9]\./)
  })
})

describe('metadata variables', () => {
  it('are only those that the texts name', () => {
    const metadata = { tag: 'v1', big: 'x'.repeat(1000), 'two words': 2, list: [1], none: null }
    const text =
      '$SAMPLE_METADATA_TAG ${SAMPLE_METADATA_TWO_WORDS:-x} ${A:-$SAMPLE_METADATA_LIST} $SAMPLE_METADATA_NONE'
    expect(metadataVariables([text], metadata)).toEqual({
      SAMPLE_METADATA_LIST: '[1]',
      SAMPLE_METADATA_TAG: 'v1',
      SAMPLE_METADATA_TWO_WORDS: '2',
    })
  })

  it('take the key as it is written before any other', () => {
    expect(metadataVariables(['$SAMPLE_METADATA_tag $SAMPLE_METADATA_TAG'], { tag: 'a', TAG: 'b' })).toEqual({
      SAMPLE_METADATA_tag: 'a',
      SAMPLE_METADATA_TAG: 'b',
    })
  })

  it('are an error where two keys stand for one', () => {
    expect(() => metadataVariables(['$SAMPLE_METADATA_A_B'], { 'a-b': 1, 'a b': 2 })).toThrow(
      'the metadata keys a-b and a b both stand for SAMPLE_METADATA_A_B',
    )
  })
})

describe('variables without default', () => {
  it('are found bare and in braces, and not where escaped', () => {
    expect(bareVariables('$A ${B} ${C:-c} $$D $${E} $F_1')).toEqual(['A', 'B', 'F_1'])
  })
})
