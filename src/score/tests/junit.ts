import { SaxesParser, type SaxesTag, type SaxesTagPlain } from 'saxes'
import { addTest, ReportError, type TestResult, type TestStatus } from './test-result.ts'

const MAX_DEPTH = 100
const MAX_TEXT = 4000

/** What each element within a `testcase` makes of it; attempts that failed before one that passed count for nothing. */
const VERDICTS: Readonly<Record<string, TestStatus>> = {
  failure: 'failed',
  error: 'failed',
  skipped: 'skipped',
}

/** Reads JUnit XML as pytest, node:test, Maven Surefire and others write it. No entity is expanded. @throws ReportError */
export function readJunit(text: string): TestResult[] {
  const reader = new JunitReader()
  const parser = new SaxesParser({ position: false })
  parser.on('error', (error) => {
    throw new ReportError(`it is no whole XML: ${error.message}`)
  })
  parser.on('opentag', (tag: SaxesTag) => reader.open(tag as SaxesTagPlain))
  parser.on('text', (part) => reader.text(part))
  parser.on('cdata', (part) => reader.text(part))
  parser.on('closetag', ({ name }) => reader.close(name))
  parser.write(text.replace(/^\uFEFF/u, '')).close()
  return reader.tests
}

interface OpenCase {
  readonly name: string
  readonly durationMs: number | undefined
  status: TestStatus
  message: string
  /** Whether text belongs to its verdict. */
  listens: boolean
}

class JunitReader {
  readonly tests: TestResult[] = []
  #depth = 0
  #case: OpenCase | undefined

  open({ name, attributes }: SaxesTagPlain): void {
    if (++this.#depth > MAX_DEPTH) throw new ReportError('its elements are nested too deeply')
    if (this.#depth === 1 && name !== 'testsuites' && name !== 'testsuite')
      throw new ReportError(`it is XML of another kind: <${name.slice(0, 100)}>`)
    if (name === 'testcase') this.#case = openCase(attributes)
    const verdict = Object.hasOwn(VERDICTS, name) ? VERDICTS[name] : undefined
    if (!this.#case || !verdict) return
    if (this.#case.status !== 'failed') this.#case.status = verdict
    this.#case.message ||= attributes.message ?? ''
    this.#case.listens = this.#case.message === ''
  }

  text(part: string): void {
    if (this.#case?.listens && this.#case.message.length < MAX_TEXT)
      this.#case.message += part.slice(0, MAX_TEXT)
  }

  close(name: string): void {
    this.#depth--
    if (!this.#case) return
    if (Object.hasOwn(VERDICTS, name)) this.#case.listens = false
    if (name !== 'testcase') return
    const { listens: _listens, ...test } = this.#case
    addTest(this.tests, test)
    this.#case = undefined
  }
}

function openCase(attributes: Readonly<Record<string, string>>): OpenCase {
  const { classname = '', name = '', time } = attributes
  const seconds = Number(time?.replaceAll(',', ''))
  return {
    name: [classname, name].filter((part) => part !== '').join('.'),
    durationMs: time === undefined || Number.isNaN(seconds) ? undefined : Math.round(seconds * 1000),
    status: 'passed',
    message: '',
    listens: false,
  }
}
