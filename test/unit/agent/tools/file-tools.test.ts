import { describe, expect, it } from 'vitest'
import { runToolCalls } from '../../../../src/agent/loop/tool-calls.ts'
import type { Tool } from '../../../../src/agent/tool.ts'
import { grep } from '../../../../src/agent/tools/grep.ts'
import { listFiles } from '../../../../src/agent/tools/list-files.ts'
import { python } from '../../../../src/agent/tools/python.ts'
import { readFile } from '../../../../src/agent/tools/read-file.ts'
import { textEditor } from '../../../../src/agent/tools/text-editor.ts'
import { agentContext } from '../../../support/agent-context.ts'
import { hasGuest, runGuest } from '../../sandbox/guest/guest-process.ts'

/** Calls one tool in a fresh sandbox, as a loop does: what comes is what the model is shown. */
async function bench(tool: Tool) {
  const guest = await runGuest()
  const context = agentContext({ sandbox: guest.sandbox })
  const call = async (args: Record<string, unknown>) => {
    const calls = [{ id: 'c', name: tool.name, arguments: args }]
    const [outcome] = await runToolCalls(calls, { tools: new Map([[tool.name, tool]]) }, context)
    return String(outcome?.message.content)
  }
  return { ...guest, context, call, [Symbol.asyncDispose]: () => guest[Symbol.asyncDispose]() }
}

describe.skipIf(!hasGuest)('tools for files', () => {
  it('read_file shows numbered lines, or some of them', async () => {
    await using b = await bench(readFile())
    await b.sandbox.writeFile('a.txt', 'one\ntwo\nthree\n')
    expect(await b.call({ path: 'a.txt' })).toBe('     1\tone\n     2\ttwo\n     3\tthree')
    expect(await b.call({ path: 'a.txt', first_line: 2, line_count: 1 })).toBe('     2\ttwo')
    expect(await b.call({ path: 'a.txt', first_line: 9 })).toBe('the file has 3 lines')
    await b.sandbox.writeFile('empty', '')
    expect(await b.call({ path: 'empty' })).toBe('[the file is empty]')
    expect(await b.call({ path: 'none' })).toContain('no such file')
    expect(await b.call({ path: '.' })).toContain('directory')
  })

  it('list_files shows so many levels, links unfollowed', async () => {
    await using b = await bench(listFiles())
    expect(await b.call({})).toBe('[the folder is empty]')
    await b.sandbox.writeFile('src/deep/er/file', 'x')
    await b.sandbox.writeFile('top', 'four')
    await b.sandbox.exec(['ln', '-s', '/', 'all'])
    const lines = (await b.call({})).split('\n')
    expect(lines.sort()).toEqual(['all  [link]', 'src/', 'src/deep/', 'top  4'])
    expect(await b.call({ path: 'src', depth: 9 })).toContain('deep/er/file  1')
    expect(await b.call({ path: 'none' })).toContain('no such file')
  })

  it('grep shows matches, that there are none, and what it would not do', async () => {
    await using b = await bench(grep())
    await b.sandbox.writeFile('src/a.txt', 'Alpha\nbeta\n-e\n')
    expect(await b.call({ pattern: '^b.ta$' })).toBe('./src/a.txt:2:beta')
    expect(await b.call({ pattern: 'alpha', path: 'src', ignore_case: true })).toBe('src/a.txt:1:Alpha')
    expect(await b.call({ pattern: '-e' })).toBe('./src/a.txt:3:-e')
    expect(await b.call({ pattern: 'gamma' })).toBe('No line matches.')
    expect(await b.call({ pattern: '(' })).toMatch(/[Uu]nmatched/)
    expect(await b.call({ pattern: 'x', path: 'none' })).toContain('No such file')
  })

  it('python runs programs, and names an interpreter that is not there', async () => {
    await using b = await bench(python())
    expect(await b.call({ code: 'import sys\nprint(6 * 7)\nsys.exit(3)' })).toBe('42\n[exit code 3]')
    await using none = await bench(python({ program: 'python-none' }))
    await expect(none.call({ code: '1' })).rejects.toThrow("tool 'python': cannot start python-none")
  })

  it('text_editor views, creates, replaces, inserts, and takes edits back', async () => {
    await using b = await bench(textEditor())
    const text = () => b.sandbox.readText('d/a.txt')
    expect(await b.call({ command: 'create', path: 'd/a.txt', file_text: 'one\ntwo\n' })).toBe(
      'Created d/a.txt.',
    )
    expect(
      await b.call({ command: 'str_replace', path: 'd/a.txt', old_str: 'two', new_str: 'zwei' }),
    ).toContain('     2\tzwei')
    expect(await b.call({ command: 'insert', path: 'd/a.txt', insert_line: 0, new_str: 'null\n' })).toContain(
      'null',
    )
    expect(await text()).toBe('null\none\nzwei\n')
    expect(await b.call({ command: 'view', path: 'd/a.txt', view_range: [2, -1] })).toBe(
      '     2\tone\n     3\tzwei',
    )
    expect(await b.call({ command: 'view', path: '.' })).toContain('d/a.txt  14')
    await b.call({ command: 'undo_edit', path: 'd/a.txt' })
    expect(await text()).toBe('one\nzwei\n')
    await b.call({ command: 'undo_edit', path: 'd/a.txt' })
    await b.call({ command: 'undo_edit', path: 'd/a.txt' })
    expect(await b.sandbox.exists('d/a.txt')).toBe(false)
    expect(await b.call({ command: 'undo_edit', path: 'd/a.txt' })).toContain('no edit')
  })

  it('text_editor refuses what it would spoil, and keeps modes and line ends', async () => {
    await using b = await bench(textEditor())
    await b.sandbox.writeFile('twice', 'aa aa', { mode: 0o755 })
    expect(await b.call({ command: 'str_replace', path: 'twice', old_str: 'aa', new_str: 'b' })).toContain(
      'more than once',
    )
    expect(await b.call({ command: 'str_replace', path: 'twice', old_str: 'c', new_str: 'b' })).toContain(
      'is not in',
    )
    expect(await b.call({ command: 'str_replace', path: 'twice' })).toContain('needs old_str')
    expect(await b.call({ command: 'insert', path: 'twice', insert_line: 7, new_str: '' })).toContain(
      'has 1 lines',
    )
    await b.call({ command: 'insert', path: 'twice', insert_line: 1, new_str: '$& end' })
    expect(await b.sandbox.readText('twice')).toBe('aa aa\n$& end')
    expect((await b.sandbox.stat('twice')).mode & 0o777).toBe(0o755)
    await b.sandbox.writeFile('binary', new Uint8Array([0xff, 0xfe, 0x00]))
    expect(await b.call({ command: 'insert', path: 'binary', insert_line: 0, new_str: 'x' })).toContain(
      'no UTF-8',
    )
  })
})
