import { expectBytes, expectEqual, expectFields, expectSuccess } from '../assertions.ts'
import { type ConformanceCheck, check } from '../check.ts'
import { MIB, settles, sh } from '../shell.ts'

export const execInputChecks: readonly ConformanceCheck[] = [
  check('no input, and empty input, is end of file at once', async ({ sandbox }) => {
    for (const options of [{}, { input: '' }, { input: new Uint8Array() }])
      expectFields(await sandbox.exec(['cat'], options), { exitCode: 0, stdout: '' })
  }),
  check('text goes in as it is', async ({ sandbox }) => {
    const input = '$HOME `id` \'"\\ \r\n\t Ü 漢 🎉 #\n'
    expectEqual((await sandbox.exec(['cat'], { input })).stdout, input)
  }),
  check('bytes go in as they are', async ({ sandbox, folder }) => {
    const input = Buffer.from([0, 0xc3, 0x28, 0xff, 0xfe, 10, 0, 13, 4, 26, 3])
    expectSuccess(await sh(sandbox, 'mkdir -p "$1" && cat > "$1/bytes"', { args: [folder], input }))
    expectBytes(await sandbox.readFile(`${folder}/bytes`), input)
  }),
  check('50 MiB go in and come out at once', async ({ sandbox }) => {
    const input = Buffer.alloc(50 * MIB, 'belljar\n')
    const result = await sandbox.exec(['cat'], { input, raw: true, maxOutputBytes: 64 * MIB })
    expectFields(result, { exitCode: 0, stdoutBytes: input.length, truncated: false })
    expectBytes(result.raw?.stdout, input)
  }),
  check('a command need not read its input', async ({ sandbox }) => {
    const input = 'x'.repeat(3 * MIB)
    expectFields(await sandbox.exec(['true'], { input }), { exitCode: 0 })
    expectFields(await sh(sandbox, 'exec 0<&-; sleep 0.3; echo done', { input }), {
      exitCode: 0,
      stdout: 'done\n',
    })
    expectFields(await sh(sandbox, 'head -c 5', { input: `12345${input}` }), { exitCode: 0, stdout: '12345' })
  }),
  check('40 inputs at once, small and large, all end', async ({ sandbox }) => {
    const inputs = Array.from({ length: 40 }, (_, index) => (index % 2 ? '' : 'z'.repeat(MIB)))
    const results = await Promise.all(
      inputs.map((input) =>
        settles(
          `a command with ${input.length} bytes of input`,
          sandbox.exec(['wc', '-c'], { input }),
          90_000,
        ),
      ),
    )
    expectEqual(
      results.map(({ stdout }) => Number(stdout)),
      inputs.map((input) => input.length),
    )
  }),
]
