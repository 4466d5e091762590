import { addTest, ReportError, type TestResult, type TestStatus } from './test-result.ts'

const POINT = /^( *)(not )?ok\b(?:[ \t]+(\d{1,9}))?(?:[ \t]+-)?[ \t]*(.*)$/u
const PLAN = /^( *)1\.\.(\d{1,9})(?:[ \t]*#.*)?$/u
const DIRECTIVE = /[ \t]#[ \t]*(skip|todo)\b.*$/iu
const DIAGNOSIS = /^ +---\s*$/u
const MAX_INDENT = 200

/** What was reported at one depth of indentation and not yet taken by a test point around it. */
interface Block {
  readonly tests: TestResult[]
  points: number
  planned: number | undefined
}

/**
 * Reads TAP (version 12 to 14, and what node:test writes). Subtests stand for the point that they belong to, unless it failed and none
 * of them did. What a plan names and no point reports has failed. Diagnoses are passed over. @throws ReportError
 */
export function readTap(text: string): TestResult[] {
  const blocks = new Map<number, Block>()
  let isDiagnosis = false
  for (const line of text.split(/\r?\n/u)) {
    if (isDiagnosis) isDiagnosis = !/^ +\.\.\.\s*$/u.test(line)
    else if (DIAGNOSIS.test(line)) isDiagnosis = true
    else takeLine(blocks, line)
  }
  const top = blocks.get(0)
  if (!top) throw new ReportError('it has no test point')
  if (top.planned === undefined) throw new ReportError('its plan is missing: it was cut short')
  return closed(top)
}

function takeLine(blocks: Map<number, Block>, line: string): void {
  const plan = PLAN.exec(line)
  if (plan) {
    blockAt(blocks, plan[1]?.length ?? 0).planned = Number(plan[2])
    return
  }
  if (line.startsWith('Bail out!')) {
    const top = blockAt(blocks, 0)
    top.planned ??= top.points
    addTest(top.tests, { name: 'Bail out!', status: 'failed', message: line.slice('Bail out!'.length) })
    return
  }
  const [, indent = '', not, , rest = ''] = POINT.exec(line) ?? []
  if (POINT.test(line)) takePoint(blocks, { depth: indent.length, failed: not !== undefined, rest })
}

function takePoint(
  blocks: Map<number, Block>,
  { depth, failed, rest }: { depth: number; failed: boolean; rest: string },
): void {
  const inner = [...blocks].filter(([at]) => at > depth).sort(([one], [other]) => other - one)
  const children = inner.flatMap(([, block]) => closed(block))
  for (const [at] of inner) blocks.delete(at)
  const block = blockAt(blocks, depth)
  block.points++
  const [, directive] = DIRECTIVE.exec(` ${rest}`) ?? []
  const title = ` ${rest}`.replace(DIRECTIVE, '').trim().replaceAll('\\#', '#')
  const name = title === '' ? `test ${block.points}` : title
  const status: TestStatus = directive === undefined ? (failed ? 'failed' : 'passed') : 'skipped'
  const isOnlyAround =
    children.length > 0 && (status !== 'failed' || children.some((child) => child.status === 'failed'))
  for (const child of children) addTest(block.tests, { ...child, name: `${name} > ${child.name}` })
  if (!isOnlyAround) addTest(block.tests, { name, status })
}

function blockAt(blocks: Map<number, Block>, depth: number): Block {
  if (depth > MAX_INDENT) throw new ReportError('its subtests are nested too deeply')
  const block = blocks.get(depth) ?? { tests: [], points: 0, planned: undefined }
  blocks.set(depth, block)
  return block
}

function closed({ tests, points, planned = points }: Block): TestResult[] {
  if (points > planned) throw new ReportError(`it planned ${planned} tests and has ${points}`)
  const all = [...tests]
  for (let number = points + 1; number <= planned; number++)
    addTest(all, { name: `test ${number}`, status: 'failed', message: 'planned and not reported' })
  return all
}
