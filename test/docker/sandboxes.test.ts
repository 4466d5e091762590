import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DockerRun } from '../support/docker.ts'

const root = fileURLToPath(new URL('../../sandboxes/', import.meta.url))

/** What each sandbox promises, as commands and what they print. */
const PROMISES: Readonly<Record<string, readonly (readonly [string, RegExp])[]>> = {
  minimal: [
    ['busybox | head -n 1', /^BusyBox/],
    ['pwd; whoami', /^\/work\nroot\n$/],
  ],
  debian: [
    ['bash -c "echo $((6 * 7))"', /^42\n$/],
    [
      'git init -q r && cd r && git commit -q --allow-empty -m m && git log --format="%an %D"',
      /^agent HEAD -> main\n$/,
    ],
    ['python3 -c "import sys; print(sys.version_info.major)"', /^3\n$/],
    ['sort --version | head -n 1', /GNU coreutils/],
  ],
  node: [['node --eval "console.log(process.versions.node)"', /^\d+\.\d+\.\d+\n$/]],
}

let run: DockerRun
beforeAll(async () => {
  run = await DockerRun.open()
})
afterAll(() => run[Symbol.asyncDispose]())

describe('the ready-made sandboxes', () => {
  it('are those of the list, each with a README of at most five lines', async () => {
    const entries = await readdir(root, { withFileTypes: true })
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
    expect(folders.sort()).toEqual(Object.keys(PROMISES).sort())
    const list = await readFile(`${root}/README.md`, 'utf8')
    for (const folder of folders) {
      expect(list).toContain(`(${folder})`)
      const lines = (await readFile(`${root}/${folder}/README.md`, 'utf8')).trimEnd().split('\n')
      expect(lines.length).toBeLessThanOrEqual(5)
    }
  })

  it.each(Object.entries(PROMISES))(
    'include %s, which builds and has what it says',
    async (name, promises) => {
      await using started = await run.start({ build: name }, { taskDirectory: root })
      for (const [script, printed] of promises) {
        const result = await started.default.exec(['sh', '-c', script])
        expect(result).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(printed) })
      }
    },
  )
})
