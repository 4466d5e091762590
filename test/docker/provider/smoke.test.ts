import { expect, test } from 'vitest'
import { DockerRun } from '../../support/docker.ts'

test('a started sandbox runs commands and keeps files', async () => {
  await using run = await DockerRun.open()
  const started = await run.start()
  const result = await started.default.exec(['sh', '-c', 'echo out; echo err >&2; exit 3'])
  expect(result).toMatchObject({ exitCode: 3, stdout: 'out\n', stderr: 'err\n', truncated: false })
  await started.default.writeFile('a/b.txt', 'hello')
  expect(await started.default.readText('a/b.txt')).toBe('hello')
  expect(await started.default.readText('/work/a/b.txt')).toBe('hello')
  const report = await started.remove()
  expect(report).toMatchObject({ removed: 1, left: [] })
})
