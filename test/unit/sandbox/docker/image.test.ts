import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readBuildContext } from '../../../../src/sandbox/docker/image/build-context.ts'
import { buildHash } from '../../../../src/sandbox/docker/image/build-hash.ts'
import { BuildTrace } from '../../../../src/sandbox/docker/image/build-trace.ts'
import { progressLines } from '../../../../src/sandbox/docker/image/json-lines.ts'
import { SharedFlights } from '../../../../src/sandbox/docker/image/shared-flights.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belljar-context-'))
  await writeFile(join(folder, 'Dockerfile'), 'FROM busybox\n')
})
afterEach(() => rm(folder, { recursive: true }))

const plan = (fields = {}) => ({ context: folder, dockerfile: 'Dockerfile', args: {}, ...fields })
const paths = async (fields = {}) => (await readBuildContext(plan(fields))).entries.map(({ path }) => path)

async function files(...names: string[]): Promise<void> {
  for (const name of names) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), name)
  }
}

test.each([
  ['*.log', ['a.log', 'd/b.log'], ['a.log']],
  ['**/*.log', ['a.log', 'd/b.log'], ['a.log', 'd/b.log']],
  ['d', ['d/b', 'e/d'], ['d', 'd/b']],
  ['d\n!d/keep', ['d/keep', 'd/drop'], ['d', 'd/drop']],
  ['*\n!src', ['src/x', 'y'], ['Dockerfile', 'y', '.dockerignore']],
  ['# comment\n\n/abs.txt', ['abs.txt', 'd/abs.txt'], ['abs.txt']],
  ['../x\nd/../e', ['e', 'f'], ['e']],
  ['UPPER', ['upper', 'UPPER'], ['UPPER']],
])('.dockerignore %j leaves out what Docker leaves out', async (text, names, ignored) => {
  await files(...names)
  const all = await paths()
  await writeFile(join(folder, '.dockerignore'), text)
  const kept = await paths()
  expect(all.filter((path) => !kept.includes(path)).sort()).toEqual(
    ignored.filter((path) => path !== '.dockerignore').sort(),
  )
})

test('a Dockerfile that is ignored is added, so that the build can read it', async () => {
  await writeFile(join(folder, '.dockerignore'), 'Dockerfile\n')
  expect(await readBuildContext(plan())).toMatchObject({ dockerfileAdded: true })
  await writeFile(join(folder, '.dockerignore'), '')
  expect(await readBuildContext(plan())).toMatchObject({
    dockerfileAdded: false,
    dockerfileName: 'Dockerfile',
  })
})

test('logs that runs write into the folder are no part of it, nor are folders that hold only logs', async () => {
  await files('a', 'both/mine.eval')
  const before = await paths()
  const log = '2026-01-02T03-04-05-00-00_task-1_0123456789abcdef'
  await files(
    `logs/${log}.journal.jsonl`,
    `logs/${log}.journal.jsonl.lock`,
    `deep/logs/${log}.services/db.log`,
  )
  await files(`both/${log}.eval`)
  expect(await paths()).toEqual(before)
  expect(before).toEqual(['Dockerfile', 'a', 'both', 'both/mine.eval'])
})

test('the hash is that of names, contents, links and options, in no order of reading', async () => {
  await files('z', 'a', 'm/n')
  const first = await buildHash(plan())
  expect(await buildHash(plan())).toBe(first)
  await symlink('a', join(folder, 'link'))
  const linked = await buildHash(plan())
  await rm(join(folder, 'link'))
  await symlink('z', join(folder, 'link'))
  const others = [
    linked,
    await buildHash(plan()),
    await buildHash(plan({ args: { A: '' } })),
    await buildHash(plan({ platform: 'linux/arm64' })),
  ]
  expect(new Set([first, ...others]).size).toBe(5)
})

test('progress comes line by line, cut anywhere, also without a last line end or as plain text', async () => {
  const text = '{"stream":"ü one"}\r\n\n{"error":"x"}\nno json\n{"status":"last"}'
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(Buffer.byteLength(text))), async (cuts) => {
      const whole = Buffer.from(text)
      const places = [0, ...cuts, whole.length].sort((a, b) => a - b)
      async function* source() {
        for (const [index, end] of places.slice(1).entries()) yield whole.subarray(places[index], end)
      }
      const lines = []
      for await (const line of progressLines(source())) lines.push(line)
      expect(lines).toEqual([{ stream: 'ü one' }, { error: 'x' }, { stream: 'no json' }, { status: 'last' }])
    }),
    { numRuns: 50 },
  )
})

/** A protobuf field of bytes. */
function field(id: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  const length: number[] = []
  for (let rest = bytes.length; ; rest >>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest)
    if (rest <= 127) break
  }
  return Buffer.concat([Buffer.from([(id << 3) | 2, ...length]), bytes])
}

test('a trace of BuildKit tells the failing step with its last 30 lines', () => {
  const trace = new BuildTrace()
  const step = (digest: string, name: string, error: string) =>
    field(1, Buffer.concat([field(1, digest), field(3, name), ...(error ? [field(7, error)] : [])]))
  const log = (digest: string, text: string) => field(3, Buffer.concat([field(1, digest), field(4, text)]))
  const send = (...parts: Buffer[]) => trace.addBuildkit(Buffer.concat(parts).toString('base64'))
  send(step('good', '[1/2] FROM x', ''), step('bad', '[2/2] RUN y', ''))
  send(log('good', 'other\n'), log('bad', 'half a '), log('bad', 'line\n'))
  for (let index = 0; index < 40; index += 1) send(log('bad', `line ${index}\n`))
  send(step('bad', '[2/2] RUN y', 'exit code: 7'), step('good', '[1/2] FROM x', 'x: context canceled'))
  const told = trace.describeFailure().split('\n')
  expect(told[0]).toBe('failing step: [2/2] RUN y')
  expect(told.slice(1)).toEqual(Array.from({ length: 30 }, (_, index) => `  | line ${index + 10}`))
})

test('work that many ask for is done once, and aborted only when the last has gone', async () => {
  const flights = new SharedFlights<string>()
  let starts = 0
  let aborted = false
  let finish: (value: string) => void = () => undefined
  const work = (signal: AbortSignal) => {
    starts += 1
    signal.addEventListener('abort', () => {
      aborted = true
    })
    return new Promise<string>((resolve) => {
      finish = resolve
    })
  }
  const [first, second] = [new AbortController(), new AbortController()]
  const one = flights.run('k', first.signal, work)
  const two = flights.run('k', second.signal, work)
  first.abort(new Error('first left'))
  await expect(one).rejects.toThrow('first left')
  expect(aborted).toBe(false)
  finish('done')
  expect(await two).toBe('done')
  expect(starts).toBe(1)
  const third = new AbortController()
  const three = flights.run('k', third.signal, work)
  third.abort(new Error('third left'))
  await expect(three).rejects.toThrow('third left')
  expect([aborted, starts]).toEqual([true, 2])
})
