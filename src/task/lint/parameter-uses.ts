import { field, isSyntax, keyName, list, nodesOf, type Syntax, textOf } from './syntax.ts'

/** How a task's function takes its parameters. */
export interface ParameterUses {
  /** Parameter to the names that stand for it in the function. */
  readonly locals: ReadonlyMap<string, ReadonlySet<string>>
  /** Names under which all of them are at hand. */
  readonly wholes: ReadonlySet<string>
  /** Parameters that are used, by name. */
  readonly used: ReadonlySet<string>
  /** Whether all of them are handed on, to where this cannot follow. */
  readonly isHandedOn: boolean
  /** `...rest` in the pattern. */
  readonly rest: Syntax | undefined
  /** Parameters with a default in the pattern. */
  readonly defaults: ReadonlyMap<string, Syntax>
  /** Every key that a pattern names. */
  readonly named: ReadonlyMap<string, Syntax>
}

interface Taken {
  readonly locals: Map<string, Set<string>>
  readonly named: Map<string, Syntax>
  readonly defaults: Map<string, Syntax>
  rest: Syntax | undefined
}

export function parameterUses(build: Syntax): ParameterUses {
  const taken: Taken = { locals: new Map(), named: new Map(), defaults: new Map(), rest: undefined }
  const wholes = new Set<string>()
  const [parameter] = list(build, 'params')
  const pattern = parameter?.type === 'AssignmentPattern' ? field(parameter, 'left') : parameter
  if (pattern?.type === 'ObjectPattern') takePattern(pattern, taken)
  else if (pattern?.type === 'Identifier') wholes.add(String(pattern.name))
  const body = field(build, 'body')
  const { members, isHandedOn } = takeWholes(body, wholes, taken)
  const references = referencesIn(body)
  const used = new Set(members)
  for (const [name, locals] of taken.locals)
    if ([...locals].some((local) => references.has(local))) used.add(name)
  const { locals, named, defaults, rest } = taken
  return { locals, wholes, used, isHandedOn, rest, defaults, named }
}

function takePattern(pattern: Syntax, taken: Taken): void {
  for (const item of list(pattern, 'properties')) {
    if (item.type === 'RestElement') {
      taken.rest = item
      continue
    }
    const name = keyName(field(item, 'key'))
    const value = field(item, 'value')
    const target = value?.type === 'AssignmentPattern' ? field(value, 'left') : value
    if (name === undefined) continue
    taken.named.set(name, item)
    if (value?.type === 'AssignmentPattern') taken.defaults.set(name, item)
    const locals = [...nodesOf(target)].flatMap((node) =>
      node.type === 'Identifier' ? [String(node.name)] : [],
    )
    taken.locals.set(name, new Set([...(taken.locals.get(name) ?? []), ...locals]))
  }
}

/** Follows `parameters.name` and `const { name } = parameters`; anything else hands them on. */
function takeWholes(body: Syntax | undefined, wholes: Set<string>, taken: Taken) {
  const members = new Set<string>()
  let followed = 0
  for (const node of nodesOf(body)) {
    const owner = field(node, 'object') ?? field(node, 'init')
    if (owner?.type !== 'Identifier' || !wholes.has(String(owner.name))) continue
    const target = field(node, 'id')
    const member = node.computed === true ? textOf(field(node, 'property')) : keyName(field(node, 'property'))
    if (target?.type === 'ObjectPattern') takePattern(target, taken)
    else if (member !== undefined) members.add(member)
    else continue
    followed++
  }
  const total = [...nodesOf(body)].filter(
    (node) => node.type === 'Identifier' && wholes.has(String(node.name)),
  ).length
  return { members, isHandedOn: total > followed }
}

/** Names that are read: not keys, members or what declares them. */
function referencesIn(body: Syntax | undefined): Set<string> {
  const names = new Set<string>()
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const item of node) visit(item)
    if (!isSyntax(node)) return
    if (node.type === 'Identifier') names.add(String(node.name))
    for (const [key, value] of Object.entries(node)) if (isRead(node, key)) visit(value)
  }
  visit(body)
  return names
}

function isRead(node: Syntax, key: string): boolean {
  if (key === 'key' || key === 'property') return node.computed === true
  return key !== 'params' && !(key === 'id' && node.type === 'VariableDeclarator')
}

/** Whether an expression reads a parameter. */
export function readsParameter(expression: Syntax | undefined, name: string, uses: ParameterUses): boolean {
  const locals = uses.locals.get(name)
  for (const node of nodesOf(expression)) {
    if (node.type === 'Identifier' && locals?.has(String(node.name))) return true
    const owner = field(node, 'object')
    const isOwn = owner?.type === 'Identifier' && uses.wholes.has(String(owner.name))
    if (isOwn && keyName(field(node, 'property')) === name) return true
  }
  return false
}
