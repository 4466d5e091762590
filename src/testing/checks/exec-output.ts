import type { Sandbox } from '../../sandbox/sandbox.ts'
import { expectBytes, expectEqual, expectFields, expectSuccess, expectTrue } from '../assertions.ts'
import { type ConformanceCheck, check } from '../check.ts'
import { eventually, MIB, output, settles, sh } from '../shell.ts'

const CAP = 1000
/** The last byte is another than the rest, so that a tail is told from a head. */
const FILL = `{ head -c "$(($1 - 1))" /dev/zero | tr '\\0' a; printf Z; }`

async function expectCapped(sandbox: Sandbox, stream: 'stdout' | 'stderr', bytes: number): Promise<void> {
  const result = await sh(sandbox, `${FILL} ${stream === 'stderr' ? '1>&2' : ''}; exit 3`, {
    args: [String(bytes)],
    maxOutputBytes: CAP,
  })
  const expected = `${'a'.repeat(Math.min(bytes, CAP) - 1)}Z`
  const other = stream === 'stdout' ? 'stderr' : 'stdout'
  expectFields(result, {
    exitCode: 3,
    truncated: bytes > CAP,
    [stream]: expected,
    [`${stream}Bytes`]: bytes,
    [other]: '',
    [`${other}Bytes`]: 0,
  })
}

export const execOutputChecks: readonly ConformanceCheck[] = [
  check('standard output and standard error are kept apart, byte for byte', async ({ sandbox }) => {
    const result = await sh(sandbox, 'printf "out\\r\\n\\nmore"; printf " err\\t" >&2; exit 70')
    expectFields(result, {
      exitCode: 70,
      stdout: 'out\r\n\nmore',
      stderr: ' err\t',
      stdoutBytes: 10,
      stderrBytes: 5,
    })
  }),
  ...(['stdout', 'stderr'] as const).map((stream) =>
    check(
      `${stream} at cap-1, cap, cap+1 and 3 x cap: the tail is kept, all is counted`,
      async ({ sandbox }) => {
        await Promise.all(
          [CAP - 1, CAP, CAP + 1, 3 * CAP].map((bytes) => expectCapped(sandbox, stream, bytes)),
        )
      },
    ),
  ),
  check('one stream over its cap takes nothing from the other', async ({ sandbox }) => {
    const result = await sh(sandbox, `${FILL}; printf whole >&2`, { args: ['5000'], maxOutputBytes: CAP })
    expectFields(result, { truncated: true, stderr: 'whole', stdoutBytes: 5000, stderrBytes: 5 })
  }),
  check('the default cap is 10 MiB for each stream', async ({ sandbox }) => {
    const args = [String(10 * MIB + 1)]
    const result = await sh(sandbox, `${FILL} & ${FILL} >&2; wait`, { args })
    expectFields(result, { truncated: true, stdoutBytes: 10 * MIB + 1, stderrBytes: 10 * MIB + 1 })
    expectEqual([result.stdout.length, result.stderr.length], [10 * MIB, 10 * MIB])
    expectTrue(result.stdout.endsWith('aZ') && result.stderr.endsWith('aZ'), 'the tail of both')
  }),
  check('a cap that cuts a character in two leaves no damage', async ({ sandbox }) => {
    const result = await sh(sandbox, "i=0; while [ $i -lt 20 ]; do printf '€'; i=$((i + 1)); done", {
      maxOutputBytes: 10,
    })
    expectFields(result, { stdout: '€€€', stdoutBytes: 60, truncated: true })
  }),
  check('invalid UTF-8 is replaced in text and whole in raw', async ({ sandbox }) => {
    const result = await sh(sandbox, "printf '\\377\\376 ok'; printf '\\303(' >&2", { raw: true })
    expectFields(result, { stdout: '\ufffd\ufffd ok', stderr: '\ufffd(' })
    expectBytes(result.raw?.stdout, Buffer.from([0xff, 0xfe, 0x20, 0x6f, 0x6b]))
    expectBytes(result.raw?.stderr, Buffer.from([0xc3, 0x28]))
    expectEqual((await sh(sandbox, 'echo x')).raw, undefined)
  }),
  check('UTF-8 made inside is decoded on both streams, byte order mark included', async ({ sandbox }) => {
    const result = await sh(sandbox, "printf '\\357\\273\\277\\360\\237\\216\\211'; printf '\\303\\234' >&2")
    expectFields(result, { stdout: '\ufeff🎉', stderr: 'Ü' })
  }),
  check('a character split over two writes arrives whole', async ({ sandbox }) => {
    const result = await sh(sandbox, "printf '\\342\\202'; sleep 0.3; printf '\\254'")
    expectEqual(result.stdout, '€')
  }),
  check('every byte goes through, terminal sequences and NUL included', async ({ sandbox }) => {
    const bytes = new Uint8Array(256 * 64).map((_, index) => index % 256)
    const result = await sandbox.exec(['cat'], { input: bytes, raw: true })
    expectBytes(result.raw?.stdout, bytes)
    expectEqual(
      (await sh(sandbox, "printf '\\033[31mred\\033[0m\\000end'")).stdout,
      '\x1b[31mred\x1b[0m\0end',
    )
  }),
  check('1 MiB of noise is no error', async ({ sandbox }) => {
    const result = expectSuccess(await sh(sandbox, 'head -c 1048576 /dev/urandom'))
    expectFields(result, { stdoutBytes: MIB, truncated: false })
  }),
  check('2,000 small writes arrive in order', async ({ sandbox }) => {
    const script = 'i=0; while [ $i -lt 2000 ]; do printf %s $((i % 10)); i=$((i + 1)); done'
    expectEqual(
      (await sh(sandbox, script)).stdout,
      Array.from({ length: 2000 }, (_, index) => index % 10).join(''),
    )
  }),
  check('what is written just before the end is never lost', async ({ sandbox }) => {
    for (let round = 0; round < 10; round += 1) {
      const result = await sh(sandbox, 'head -c 3000001 /dev/zero; head -c 70001 /dev/zero >&2; exit 5')
      expectFields(result, { exitCode: 5, stdoutBytes: 3_000_001, stderrBytes: 70_001 })
    }
  }),
  check('a flood of 64 MiB on both streams leaves its tail', async ({ sandbox }) => {
    const script =
      '{ yes out | head -c 67108864 & yes err | head -c 67108864 >&2; wait; }; echo end; echo end >&2'
    const result = await sh(sandbox, script, { maxOutputBytes: 10_000 })
    expectFields(result, {
      stdoutBytes: 64 * MIB + 4,
      stderrBytes: 64 * MIB + 4,
      truncated: true,
      exitCode: 0,
    })
    expectTrue(result.stdout.endsWith('out\nend\n') && result.stderr.endsWith('err\nend\n'), 'both tails')
  }),
  check('a background child that holds stdout delays nothing, and lives on', async ({ sandbox, folder }) => {
    const script =
      'mkdir -p "$1"; (i=0; while [ $i -lt 600 ]; do i=$((i + 1)); echo $i > "$1/alive"; sleep 0.1; done) & echo $! > "$1/pid"; echo main'
    const result = await settles('a command with a background child', sh(sandbox, script, { args: [folder] }))
    expectFields(result, { exitCode: 0, stdout: 'main\n' })
    const seen = new Set<string>()
    await eventually('the child lives on', async () => {
      if (await sandbox.exists(`${folder}/alive`)) seen.add(await sandbox.readText(`${folder}/alive`))
      return seen.size > 2
    })
    await output(sandbox, 'kill -9 "$(cat "$1/pid")"', { args: [folder] })
  }),
]
