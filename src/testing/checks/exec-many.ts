import { ExecAbortedError } from '../../errors.ts'
import { expectEqual, expectError, expectFields } from '../assertions.ts'
import { type ConformanceCheck, check } from '../check.ts'
import { eventually, output, settles, sh } from '../shell.ts'

export const execManyChecks: readonly ConformanceCheck[] = [
  check('200 commands at once each have their own result', async ({ sandbox }) => {
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        sh(sandbox, 'read -r line; echo "$line $1"; echo "err $1" >&2; exit $(($1 % 100))', {
          args: [String(index)],
          input: `in-${index}\n`,
        }),
      ),
    )
    for (const [index, result] of results.entries())
      expectFields(result, {
        exitCode: index % 100,
        stdout: `in-${index} ${index}\n`,
        stderr: `err ${index}\n`,
      })
  }),
  check('500 short jobs leave no zombie', async ({ sandbox, folder }) => {
    const name = `zj${folder.replaceAll(/\D/g, '').slice(-4)}${process.pid % 10_000}`
    await sandbox.writeFile(`${folder}/${name}`, '#!/bin/sh\nexit 0\n', { mode: 0o755 })
    const round = 'i=0; while [ $i -lt 250 ]; do ("$1" &); i=$((i + 1)); done'
    await Promise.all([0, 1].map(() => output(sandbox, round, { args: [`${folder}/${name}`] })))
    const left = 'cat /proc/[0-9]*/stat 2>/dev/null | grep -cF "($1)"; true'
    await eventually(
      'no job is left, dead or alive',
      async () => (await sh(sandbox, left, { args: [name] })).stdout === '0\n',
    )
  }),
  check('a flooding command starves no other', async ({ sandbox }) => {
    const controller = new AbortController()
    const flood = sh(sandbox, 'yes & yes >&2', { signal: controller.signal, maxOutputBytes: 1000 })
    flood.catch(() => undefined)
    for (let round = 0; round < 10; round += 1)
      expectEqual(
        (await settles('a command beside a flood', sh(sandbox, 'echo "$1"', { args: [`${round}`] }))).stdout,
        `${round}\n`,
      )
    controller.abort()
    const { partial } = await settles('the flood', expectError(flood, ExecAbortedError))
    expectEqual(partial.stdout.length, 1000)
  }),
]
