/** A node of a syntax tree. Shapes: https://github.com/babel/babel/blob/main/packages/babel-parser/ast/spec.md */
export interface Syntax {
  readonly type: string
  readonly loc?: { readonly start: { readonly line: number } } | null
  readonly [field: string]: unknown
}

/** The statements of a module; nothing of it is run. @throws SyntaxError */
export async function parseModule(text: string): Promise<readonly Syntax[]> {
  // Most commands parse nothing.
  const { parse } = await import('@babel/parser')
  const file = parse(text, {
    sourceType: 'module',
    plugins: ['typescript', 'explicitResourceManagement', 'decorators'],
  })
  return file.program.body as unknown as Syntax[]
}

/** A node and all below it, outermost first. */
export function* nodesOf(root: unknown): Generator<Syntax> {
  if (Array.isArray(root)) for (const item of root) yield* nodesOf(item)
  if (!isSyntax(root)) return
  yield root
  for (const [field, value] of Object.entries(root))
    if (typeof value === 'object' && value !== null && !PASSED_OVER.includes(field)) yield* nodesOf(value)
}

const PASSED_OVER = [
  'loc',
  'leadingComments',
  'trailingComments',
  'innerComments',
  'extra',
  'typeAnnotation',
  'returnType',
  'typeParameters',
  'typeArguments',
]

export function isSyntax(value: unknown): value is Syntax {
  return typeof value === 'object' && value !== null && typeof (value as Syntax).type === 'string'
}

export function field(node: unknown, name: string): Syntax | undefined {
  const value = isSyntax(node) ? node[name] : undefined
  return isSyntax(value) ? value : undefined
}

export function list(node: unknown, name: string): readonly Syntax[] {
  const value = isSyntax(node) ? node[name] : undefined
  return Array.isArray(value) ? value.filter(isSyntax) : []
}

/** The name of an identifier, or of what a member expression ends with. */
export function lastName(node: Syntax | undefined): string | undefined {
  if (node?.type === 'Identifier') return String(node.name)
  return node?.type === 'MemberExpression' ? keyName(field(node, 'property')) : undefined
}

/** The name of a key, or a text. */
export function keyName(node: Syntax | undefined): string | undefined {
  if (node?.type === 'Identifier') return String(node.name)
  return node?.type === 'StringLiteral' ? String(node.value) : undefined
}

export function textOf(node: Syntax | undefined): string | undefined {
  return node?.type === 'StringLiteral' ? String(node.value) : undefined
}

/** The value of a property of an object literal. */
export function property(object: Syntax | undefined, name: string): Syntax | undefined {
  const found = list(object, 'properties').find((item) => keyName(field(item, 'key')) === name)
  return field(found, 'value') ?? (found?.type === 'ObjectMethod' ? found : undefined)
}

export function lineOf(node: Syntax | undefined): number {
  return node?.loc?.start.line ?? 1
}

/** Without what only the type checker sees. */
export function unwrapped(node: Syntax | undefined): Syntax | undefined {
  const isWrapper = /^TS(As|Satisfies|NonNull)Expression$|^ParenthesizedExpression$/.test(node?.type ?? '')
  return isWrapper ? unwrapped(field(node, 'expression')) : node
}
