import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { serviceLogFolder, serviceLogName, writeServiceLogs } from '../../../src/log/write/service-logs.ts'
import { tempDir } from '../../support/temp-dir.ts'

const owner = { sample: 'a1', epoch: 2, attempt: 1 }

test('names say sample, epoch, attempt and service', () => {
  expect(serviceLogName(owner, { service: 'db', number: 1 })).toBe('a1_epoch-2_attempt-1_db.log')
  expect(serviceLogName(owner, { service: 'db', number: 3 })).toBe('a1_epoch-2_attempt-1_db_3.log')
  expect(serviceLogFolder('/l/t_n_i.journal.jsonl')).toBe('/l/t_n_i.services')
  expect(serviceLogFolder('/l/t_n_i.eval')).toBe('/l/t_n_i.services')
})

test('names of any samples are names of files, and no two are alike, also where case does not count', () => {
  const name = (sample: string) => serviceLogName({ ...owner, sample }, { service: 'db', number: 1 })
  for (const sample of ['../../etc/passwd', '..', '', 'a/b', 'Ü', 'x'.repeat(300), 'nul\0'])
    expect(name(sample)).toMatch(/^[A-Za-z0-9][A-Za-z0-9.-]{0,70}_epoch-2_attempt-1_db\.log$/)
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      fc.pre(one !== other)
      expect(name(one).toLowerCase()).not.toBe(name(other).toLowerCase())
    }),
  )
})

test('what services print is harmless for a terminal, and what was left out is said', async () => {
  await using folder = await tempDir()
  const logs = [
    { service: 'db', number: 1, text: 'red \u001b[31m\u202e\nnext\ttab', omittedBytes: 7 },
    { service: 'web', number: 1, text: 'fine', omittedBytes: 0 },
  ]
  const paths = await writeServiceLogs(`${folder.path}/deep/er`, owner, logs)
  expect(paths.map((path) => basename(path))).toEqual(logs.map((log) => serviceLogName(owner, log)))
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')))
  expect(texts).toEqual(['(7 bytes before this are left out)\nred \\u001b[31m\\u202e\nnext\ttab', 'fine'])
})
