import { type ParameterUses, parameterUses, readsParameter } from './parameter-uses.ts'
import { field, lastName, lineOf, list, nodesOf, property, type Syntax, textOf } from './syntax.ts'
import type { TaskSyntax } from './task-syntax.ts'

export interface Violation {
  readonly line: number
  readonly message: string
}

const SHOTS = 'nShot'
/** Other spellings of the number of examples in a prompt; their seed and their split are other things. */
const SHOT_COUNT =
  /^(?:(?:n|k|num|numberof|no)(?:of)?(?:few)?shots?|shots?|fewshots|(?:few)?shots?(?:count|num|n|k))$/

/** What is wrong with the parameters of a task, by what is written. */
export function violationsOf(task: TaskSyntax, module: readonly Syntax[]): Violation[] {
  return [...misspelt(task), ...unwired(task), ...unreported(task, module), ...wrongK(task, module)]
}

function misspelt({ parameters }: TaskSyntax): Violation[] {
  return parameters.flatMap(({ name, node }) =>
    name !== SHOTS && SHOT_COUNT.test(name.toLowerCase().replaceAll('_', ''))
      ? [{ line: lineOf(node), message: `parameter '${name}': a number of examples is spelled '${SHOTS}'` }]
      : [],
  )
}

function unwired({ parameters, isWhole, build, hasBuild, call }: TaskSyntax): Violation[] {
  if (!build) {
    if (!hasBuild || parameters.length === 0) return []
    return [
      {
        line: lineOf(call),
        message: 'its function comes from elsewhere, so its parameters cannot be checked',
      },
    ]
  }
  const uses = parameterUses(build)
  const violations: Violation[] = []
  for (const { name, node } of parameters) {
    if (uses.used.has(name) || (uses.isHandedOn && !uses.named.has(name))) continue
    const message =
      uses.rest && !uses.named.has(name) ? 'is hidden by a rest of the others' : 'is declared and never used'
    violations.push({ line: lineOf(node), message: `parameter '${name}' ${message}` })
  }
  for (const [name, node] of uses.defaults)
    violations.push({
      line: lineOf(node),
      message: `parameter '${name}' has its default in the function, where no log sees it; give it in the schema`,
    })
  const declared = new Set(parameters.map(({ name }) => name))
  for (const [name, node] of uses.named)
    if (isWhole && !declared.has(name))
      violations.push({ line: lineOf(node), message: `parameter '${name}' is not declared` })
  return violations
}

/** The number of examples is true only when the code says how many it gave. */
function unreported({ parameters, isWhole }: TaskSyntax, module: readonly Syntax[]): Violation[] {
  const reports = [...nodesOf(module)].filter(({ type }) => type === 'CallExpression').flatMap(reportedBy)
  const declared = new Set(parameters.map(({ name }) => name))
  const violations = reports.flatMap(({ name, node, isDrawn }) =>
    isWhole && !isDrawn && declared.size > 0 && !declared.has(name)
      ? [{ line: lineOf(node), message: `effective('${name}'): there is no such parameter` }]
      : [],
  )
  const shots = parameters.find(({ name }) => name === SHOTS)
  if (shots && !reports.some(({ name }) => name === SHOTS))
    violations.push({
      line: lineOf(shots.node),
      message: `parameter '${SHOTS}' is never reported: draw by fewShot(pool, { n: ${SHOTS} }), or call effective('${SHOTS}', ...)`,
    })
  return violations
}

function reportedBy(
  call: Syntax,
): { name: string; node: Syntax; value: Syntax | undefined; isDrawn: boolean }[] {
  const callee = lastName(field(call, 'callee'))
  const [first, second] = list(call, 'arguments')
  if (callee === 'fewShot') return [{ name: SHOTS, node: call, value: property(second, 'n'), isDrawn: true }]
  const name = callee === 'effective' ? textOf(first) : undefined
  return name === undefined ? [] : [{ name, node: call, value: second, isDrawn: false }]
}

/** `k` is that of pass@k, and nothing else. */
function wrongK({ parameters, build }: TaskSyntax, module: readonly Syntax[]): Violation[] {
  const k = parameters.find(({ name }) => name === 'k')
  if (!k) return []
  const line = lineOf(k.node)
  const violations: Violation[] = []
  if (!hasPassAtK(module))
    violations.push({ line, message: "parameter 'k' is the k of pass@k, and nothing computes that" })
  const uses: ParameterUses | undefined = build && parameterUses(build)
  const feedsShots = [...nodesOf(build)]
    .filter(({ type }) => type === 'CallExpression')
    .flatMap(reportedBy)
    .some(({ name, value }) => name === SHOTS && uses && readsParameter(value, 'k', uses))
  if (feedsShots)
    violations.push({ line, message: `parameter 'k' is no number of examples; that is '${SHOTS}'` })
  return violations
}

function hasPassAtK(module: readonly Syntax[]): boolean {
  for (const node of nodesOf(module)) {
    const raw = node.type === 'TemplateElement' ? (node.value as { raw?: unknown }).raw : node.value
    const text = node.type === 'TemplateElement' || node.type === 'StringLiteral' ? String(raw) : ''
    if (/pass(?:_at)?_|pass[@^]k/i.test(text)) return true
    if (node.type === 'Identifier' && /^pass(?:At)?K$/i.test(String(node.name))) return true
  }
  return false
}
