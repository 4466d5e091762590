import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { tempDir } from '../support/temp-dir.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const TASK = `import { defineTask, nop } from 'belljar'
const dataset = Array.from({ length: 50 }, (_, index) => ({ input: String(index) }))
export default defineTask({ name: 'piped', dataset, agent: nop(), sandbox: false })
`

it.each(['stdout', 'stderr'] as const)(
  'a run goes on to its end when the reader of its %s goes away',
  async (name) => {
    await using directory = await tempDir()
    await writeFile(join(directory.path, 'task.ts'), TASK)
    const child = spawn(process.execPath, [MAIN, 'run', 'task.ts', '--json'], {
      cwd: directory.path,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child[name].destroy()
    child[name === 'stdout' ? 'stderr' : 'stdout'].resume()
    const [exitCode] = await once(child, 'close')
    expect(exitCode).toBe(0)
    expect(await readdir(join(directory.path, 'logs'))).toHaveLength(1)
  },
)
