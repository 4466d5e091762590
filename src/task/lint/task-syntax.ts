import {
  field,
  isSyntax,
  keyName,
  lastName,
  list,
  nodesOf,
  property,
  type Syntax,
  textOf,
  unwrapped,
} from './syntax.ts'

/** A parameter that a task declares, where it stands. */
export interface DeclaredParameter {
  readonly name: string
  readonly node: Syntax
}

/** A call of `defineTask` as it is written. */
export interface TaskSyntax {
  readonly call: Syntax
  /** undefined: not written as text. */
  readonly name: string | undefined
  readonly parameters: readonly DeclaredParameter[]
  /** Whether the parameters are all that there are: a part of the schema may come from elsewhere. */
  readonly isWhole: boolean
  /** The function that makes the definition; undefined where there is none, or it comes from elsewhere. */
  readonly build: Syntax | undefined
  readonly hasBuild: boolean
}

/** The calls of `defineTask` in a module. */
export function tasksIn(module: readonly Syntax[]): TaskSyntax[] {
  const names = importedNames(module)
  const isDefineTask = (callee: Syntax | undefined) => {
    if (callee?.type === 'Identifier') return names.direct.has(String(callee.name))
    const owner = field(callee, 'object')
    return lastName(callee) === 'defineTask' && owner !== undefined && names.spaces.has(String(owner.name))
  }
  const scope = topLevel(module)
  return [...nodesOf(module)]
    .filter((node) => node.type === 'CallExpression' && isDefineTask(field(node, 'callee')))
    .map((call) => taskOf(call, scope))
}

/** Whether a module defines a task as it is loaded, not only in functions that others call. */
export function isTaskModule(module: readonly Syntax[], tasks: readonly TaskSyntax[]): boolean {
  const outside = new Set<unknown>()
  const functions =
    /^(ArrowFunctionExpression|FunctionExpression|FunctionDeclaration|ClassBody|ObjectMethod)$/
  const visit = (root: unknown): void => {
    for (const node of Array.isArray(root) ? root : [root]) {
      if (!isSyntax(node) || functions.test(node.type)) continue
      outside.add(node)
      for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) visit(value)
    }
  }
  visit(module)
  return tasks.some(({ call }) => outside.has(call))
}

function importedNames(module: readonly Syntax[]): { direct: Set<string>; spaces: Set<string> } {
  const [direct, spaces] = [new Set<string>(), new Set<string>()]
  for (const statement of module) {
    if (statement.type !== 'ImportDeclaration' || textOf(field(statement, 'source')) !== 'belljar') continue
    for (const specifier of list(statement, 'specifiers')) {
      const local = String(field(specifier, 'local')?.name)
      if (specifier.type === 'ImportNamespaceSpecifier') spaces.add(local)
      else if (keyName(field(specifier, 'imported')) === 'defineTask') direct.add(local)
    }
  }
  return { direct, spaces }
}

type Scope = ReadonlyMap<string, Syntax>

/** What the names at the top of a module stand for. */
function topLevel(module: readonly Syntax[]): Scope {
  const scope = new Map<string, Syntax>()
  for (const statement of module) {
    const declaration =
      statement.type === 'ExportNamedDeclaration' ? field(statement, 'declaration') : statement
    if (declaration?.type === 'FunctionDeclaration')
      scope.set(String(field(declaration, 'id')?.name), declaration)
    for (const declarator of list(declaration, 'declarations')) {
      const init = field(declarator, 'init')
      if (init) scope.set(String(field(declarator, 'id')?.name), init)
    }
  }
  return scope
}

function resolved(node: Syntax | undefined, scope: Scope): Syntax | undefined {
  const plain = unwrapped(node)
  return plain?.type === 'Identifier' ? unwrapped(scope.get(String(plain.name))) : plain
}

function taskOf(call: Syntax, scope: Scope): TaskSyntax {
  const [first, second] = list(call, 'arguments')
  const meta = resolved(first, scope)
  const declared = property(meta, 'parameters')
  const schema = declared ? schemaKeys(declared, scope) : { parameters: [], isWhole: meta !== undefined }
  const build = resolved(second, scope)
  const isFunction = /Function(Expression|Declaration)$/.test(build?.type ?? '')
  return {
    call,
    name: textOf(property(meta, 'name')),
    ...schema,
    build: isFunction ? build : undefined,
    hasBuild: second !== undefined,
  }
}

type SchemaKeys = Pick<TaskSyntax, 'parameters' | 'isWhole'>
const UNKNOWN: SchemaKeys = { parameters: [], isWhole: false }
const OBJECTS = ['object', 'strictObject', 'looseObject']
const SAME_KEYS = [
  'strict',
  'loose',
  'strip',
  'passthrough',
  'partial',
  'required',
  'describe',
  'meta',
  'readonly',
]

/** The keys of `z.object({...})`, also through `.extend({...})` and what changes no key. */
function schemaKeys(node: Syntax, scope: Scope): SchemaKeys {
  const call = resolved(node, scope)
  const callee = field(call, 'callee')
  const method = lastName(callee)
  const [given] = list(call, 'arguments')
  if (call?.type !== 'CallExpression' || method === undefined) return UNKNOWN
  if (OBJECTS.includes(method)) return objectKeys(resolved(given, scope))
  const owner = field(callee, 'object')
  if (!owner) return UNKNOWN
  const before = schemaKeys(owner, scope)
  if (SAME_KEYS.includes(method)) return before
  if (method !== 'extend' && method !== 'safeExtend') return { ...before, isWhole: false }
  const added = objectKeys(resolved(given, scope))
  return {
    parameters: [...before.parameters, ...added.parameters],
    isWhole: before.isWhole && added.isWhole,
  }
}

function objectKeys(object: Syntax | undefined): SchemaKeys {
  if (object?.type !== 'ObjectExpression') return UNKNOWN
  const properties = list(object, 'properties')
  const parameters = properties.flatMap((node) => {
    const name = node.computed === true ? undefined : keyName(field(node, 'key'))
    return name === undefined ? [] : [{ name, node }]
  })
  return { parameters, isWhole: parameters.length === properties.length }
}
