import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { type ReportFormat, readReport } from '../../../src/score/tests/report.ts'
import { ReportError } from '../../../src/score/tests/test-result.ts'
import { tempDir } from '../../support/temp-dir.ts'

const verdicts = (text: string, format?: ReportFormat) =>
  readReport(text, format).map(({ name, status }) => `${status} ${name}`)

const PYTEST = `<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="4" time="0.02">
<testcase classname="test_mod.TestSum" name="test_adds" time="0.001" />
<testcase classname="test_mod" name="test_fails[a &amp; b]" time="1.5"><failure message="assert 1 == 2">def test_fails(): ...</failure></testcase>
<testcase classname="test_mod" name="test_later" time="0"><skipped type="pytest.skip" message="no network">x</skipped></testcase>
<testcase classname="" name="test_broken" time="0.0"><error message="collection failure">ImportError</error></testcase>
</testsuite></testsuites>`

const NODE_TAP = `TAP version 13
# Subtest: sums
    # Subtest: adds
    ok 1 - adds
      ---
      duration_ms: 0.4
      not ok 99 - in a diagnosis
      ...
    # Subtest: subtracts
    not ok 2 - subtracts
      ---
      error: 'no'
      ...
    1..2
not ok 1 - sums
  ---
  type: 'suite'
  ...
# Subtest: alone
ok 2 - alone # SKIP later
1..2
# tests 3
`

describe('a JUnit report', () => {
  it('of pytest has each test with its class', () => {
    expect(verdicts(PYTEST)).toEqual([
      'passed test_mod.TestSum.test_adds',
      'failed test_mod.test_fails[a & b]',
      'skipped test_mod.test_later',
      'failed test_broken',
    ])
    expect(readReport(PYTEST)[1]).toMatchObject({ message: 'assert 1 == 2', durationMs: 1500 })
  })

  it('counts a test by its last attempt, and takes the text where there is no message', () => {
    const flaky = '<testcase name="a"><flakyFailure message="once"/></testcase>'
    const failed =
      '<testcase name="b"><failure><![CDATA[went wrong]]></failure><system-out>x</system-out></testcase>'
    const tests = readReport(`<testsuite>${flaky}${failed}</testsuite>`)
    expect(tests).toEqual([
      { name: 'a', status: 'passed' },
      { name: 'b', status: 'failed', message: 'went wrong' },
    ])
  })

  it.each([
    ['cut short', PYTEST.slice(0, 300)],
    ['of another kind', '<html><testcase name="a"/></html>'],
    [
      'with entities of its own',
      '<!DOCTYPE x [<!ENTITY a "aaaa">]><testsuite><testcase name="&a;"/></testsuite>',
    ],
    ['nested without end', `<testsuite>${'<testsuite>'.repeat(5000)}`],
    ['without tests', '<testsuite></testsuite>'],
  ])('%s says nothing', (_name, text) => {
    expect(() => readReport(text)).toThrow(ReportError)
  })
})

describe('TAP', () => {
  it('of node:test has the innermost tests', () => {
    expect(verdicts(NODE_TAP)).toEqual(['passed sums > adds', 'failed sums > subtracts', 'skipped alone'])
  })

  it.each([
    ['ok\nnot ok\n1..2', ['passed test 1', 'failed test 2']],
    ['1..3\nok 1 - a\nok 2 - b', ['passed a', 'passed b', 'failed test 3']],
    ['1..2\nok 1 a\nBail out! no disk', ['passed a', 'failed Bail out!', 'failed test 2']],
    ['noise\nok 1 - a \\# b\nnot ok 2 - c # TODO later\n1..2', ['passed a # b', 'skipped c']],
    ['    ok 1 - in\n    1..1\nnot ok 1 - around\n1..1', ['passed around > in', 'failed around']],
  ])('%j', (text, expected) => {
    expect(verdicts(text)).toEqual(expected)
  })

  it.each([
    ['without a plan', 'ok 1 - a\nok 2 - b'],
    ['with more points than planned', '1..1\nok 1\nok 2'],
    ['without a point', 'hello'],
    ['of an empty plan', '1..0 # skipped'],
    ['that plans too much', '1..999999999\nok 1'],
    ['that is nested too deeply', `${' '.repeat(300)}ok 1\n1..1`],
    ['empty', '   '],
  ])('%s says nothing', (_name, text) => {
    expect(() => readReport(text, 'tap')).toThrow(ReportError)
  })
})

describe('a JSON report', () => {
  it('is CTRF, or a plain list of tests', () => {
    const tests = [
      { name: 'a', status: 'passed', duration: 3 },
      { name: 'b', status: 'FAILED', suite: ['s', 't'], message: 'no' },
      { name: 'c', status: 'pending' },
    ]
    const expected = ['passed a', 'failed s > t > b', 'skipped c']
    expect(verdicts(JSON.stringify({ results: { tool: {}, summary: {}, tests } }))).toEqual(expected)
    expect(verdicts(JSON.stringify({ tests }))).toEqual(expected)
  })

  it.each(['{', '{"results":{}}', '{"tests":[{"name":"a","status":"maybe"}]}', '{"tests":[]}'])(
    '%s says nothing',
    (text) => {
      expect(() => readReport(text)).toThrow(ReportError)
    },
  )
})

it('keeps names and messages short', () => {
  const [test] = readReport(
    JSON.stringify({ tests: [{ name: 'n'.repeat(9999), status: 'failed', message: 'm'.repeat(9999) }] }),
  )
  expect([test?.name.length, test?.message?.length]).toEqual([300, 500])
})

const SUITE = `import test, { describe, it } from 'node:test'
import assert from 'node:assert'
describe('sums', () => {
  it('adds', () => {})
  it('fails & says so', () => assert.equal(1, 2))
})
test('later', { skip: true }, () => {})
test('alone', async (t) => { await t.test('inner', () => {}) })
`

it.each([
  ['tap', ['sums > adds', 'sums > fails & says so', 'later', 'alone > inner']],
  ['junit', ['test.adds', 'test.fails & says so', 'test.later', 'test.inner']],
] as const)('reads what node:test writes as %s', async (reporter, names) => {
  await using folder = await tempDir()
  const file = join(folder.path, 'suite.test.mjs')
  await writeFile(file, SUITE)
  const { NODE_TEST_CONTEXT: _ours, ...env } = process.env
  const run = promisify(execFile)(process.execPath, ['--test', `--test-reporter=${reporter}`, file], { env })
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  const statuses = ['passed', 'failed', 'skipped', 'passed']
  expect(verdicts(stdout)).toEqual(names.map((name, index) => `${statuses[index]} ${name}`))
})
