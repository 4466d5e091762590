import { z } from 'zod'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import type { AgentContext, AgentState } from '../agent.ts'
import { cappedText } from '../output-text.ts'
import { defineTool, type Tool, ToolCallError } from '../tool.ts'
import { listing } from './list-files.ts'
import { type FileToolOptions, linesOf, numbered } from './read-file.ts'
import { DEFAULT_SHOWN, sandboxOf } from './shown-command.ts'

const MAX_BYTES = 10 * 1024 * 1024
const AROUND = 4

const parameters = z.object({
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']),
  path: z.string(),
  file_text: z.string().optional().describe('create: what the file is to hold.'),
  old_str: z
    .string()
    .optional()
    .describe('str_replace: text that is in the file exactly once, with its whitespace.'),
  new_str: z.string().optional().describe('str_replace, insert: the new text.'),
  insert_line: z.int().nonnegative().optional().describe('insert: after which line; 0 is the beginning.'),
  view_range: z.array(z.int()).length(2).optional().describe('view: first and last line; -1 is the end.'),
})
type Edit = z.output<typeof parameters>

/** A tool that views and edits text files, as the service's user, and takes edits back. Needs nothing in the image. */
export function textEditor(options: FileToolOptions = {}): Tool {
  const histories = new WeakMap<AgentState, Map<string, (string | undefined)[]>>()
  return defineTool({
    name: 'text_editor',
    description:
      'Views (also folders), creates and edits text files: create, str_replace, insert; undo_edit takes the last edit of a file back.',
    parameters,
    async execute(edit, context) {
      const history = histories.get(context.state) ?? new Map<string, (string | undefined)[]>()
      histories.set(context.state, history)
      const files = new EditedFiles(sandboxOf(options, context), { context, user: options.user, history })
      return cappedText(await files.run(edit), options.maxOutputCharacters ?? DEFAULT_SHOWN)
    },
  })
}

interface EditedFilesOptions {
  readonly context: AgentContext
  readonly user: string | undefined
  /** What files held before each edit; undefined: nothing. */
  readonly history: Map<string, (string | undefined)[]>
}

class EditedFiles {
  readonly #sandbox: Sandbox
  readonly #call: { user: string | undefined; signal: AbortSignal }
  readonly #history: EditedFilesOptions['history']

  constructor(sandbox: Sandbox, { context, user, history }: EditedFilesOptions) {
    this.#sandbox = sandbox
    this.#call = { user, signal: context.signal }
    this.#history = history
  }

  run(edit: Edit): Promise<string> {
    if (edit.command === 'view') return this.#view(edit)
    if (edit.command === 'create') return this.#create(edit)
    if (edit.command === 'str_replace') return this.#replace(edit)
    return edit.command === 'insert' ? this.#insert(edit) : this.#undo(edit.path)
  }

  async #view({ path, view_range: range }: Edit): Promise<string> {
    const { type } = await this.#sandbox.stat(path, this.#call)
    if (type === 'directory')
      return (
        (await listing(this.#sandbox, path, { ...this.#call, depth: 2 })).join('\n') ||
        '[the folder is empty]'
      )
    const lines = linesOf(await this.#read(path))
    const [first = 1, last = -1] = range ?? []
    if (first < 1 || first > Math.max(1, lines.length) || (last !== -1 && last < first))
      throw new ToolCallError('failed', `view_range does not fit: the file has ${lines.length} lines`)
    return numbered(lines.slice(first - 1, last === -1 ? undefined : last), first) || '[the file is empty]'
  }

  async #create({ path, file_text: text }: Edit): Promise<string> {
    const before = await this.#sandbox.exists(path, this.#call)
    const content = needed(text, 'file_text')
    await this.#write(path, content, before ? await this.#read(path) : undefined)
    return `${before ? 'Replaced' : 'Created'} ${path}.`
  }

  async #replace({ path, old_str: given, new_str: text = '' }: Edit): Promise<string> {
    const old = needed(given, 'old_str')
    const before = await this.#read(path)
    const at = before.indexOf(old)
    if (old === '' || at === -1) throw new ToolCallError('not-found', `old_str is not in ${path}`)
    if (before.indexOf(old, at + 1) !== -1)
      throw new ToolCallError(
        'failed',
        `old_str is in ${path} more than once; give more of what is around it`,
      )
    const after = `${before.slice(0, at)}${text}${before.slice(at + old.length)}`
    await this.#write(path, after, before)
    return edited(path, after, { line: linesOf(before.slice(0, at)).length, count: linesOf(text).length })
  }

  async #insert({ path, insert_line: given, new_str: text }: Edit): Promise<string> {
    const line = needed(given, 'insert_line')
    const before = await this.#read(path)
    const lines = linesOf(before)
    if (line > lines.length)
      throw new ToolCallError('failed', `insert_line does not fit: ${path} has ${lines.length} lines`)
    const added = linesOf(needed(text, 'new_str'))
    const after = [...lines.slice(0, line), ...added, ...lines.slice(line)].join('\n')
    const whole = after === '' || (before !== '' && !before.endsWith('\n')) ? after : `${after}\n`
    await this.#write(path, whole, before)
    return edited(path, whole, { line: line + 1, count: added.length })
  }

  async #undo(path: string): Promise<string> {
    const edits = this.#history.get(path)
    if (!edits?.length) throw new ToolCallError('failed', `there is no edit of ${path} to take back`)
    const before = edits.at(-1)
    if (before === undefined) await this.#sandbox.remove(path, { ...this.#call, force: true })
    else await this.#sandbox.writeFile(path, before, this.#call)
    edits.pop()
    return before === undefined
      ? `Removed ${path}, which had been created.`
      : `Took the last edit of ${path} back.`
  }

  /** @throws ToolCallError for what is no text, which an edit would spoil */
  async #read(path: string): Promise<string> {
    const bytes = await this.#sandbox.readFile(path, { ...this.#call, maxBytes: MAX_BYTES })
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    } catch (cause) {
      throw new ToolCallError('failed', `${path} is no UTF-8 text`, { cause })
    }
  }

  async #write(path: string, content: string, before: string | undefined): Promise<void> {
    await this.#sandbox.writeFile(path, content, this.#call)
    this.#history.set(path, [...(this.#history.get(path) ?? []), before])
  }
}

function needed<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new ToolCallError('parsing', `this command needs ${name}`)
  return value
}

function edited(path: string, text: string, { line, count }: { line: number; count: number }): string {
  const lines = linesOf(text)
  const first = Math.max(1, line - AROUND)
  const shown = lines.slice(first - 1, line + count + AROUND)
  return `Edited ${path}:\n${numbered(shown, first)}`
}
