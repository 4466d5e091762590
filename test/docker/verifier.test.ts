import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scripted } from '../../src/agent/scripted.ts'
import type { SampleRecord } from '../../src/log/records/records.ts'
import { evaluate } from '../../src/run/evaluate.ts'
import type { EvaluateOptions } from '../../src/run/options.ts'
import { docker } from '../../src/sample/sandbox-spec.ts'
import { rewardFile } from '../../src/score/tests/reward-file.ts'
import { testSuite } from '../../src/score/tests/test-suite.ts'
import { defineTask, type TaskDefinition } from '../../src/task/task.ts'
import { tempDir } from '../support/temp-dir.ts'

const IMAGE = docker({ image: 'busybox:latest' })

/** Records by id, and the folder of the artifacts. */
async function judged(
  definition: Omit<TaskDefinition, 'dataset' | 'agent'> &
    Pick<TaskDefinition, 'dataset'> & { agent?: TaskDefinition['agent'] },
  work: (records: Readonly<Record<string, SampleRecord>>, artifacts: string) => Promise<void>,
  options: EvaluateOptions = {},
): Promise<void> {
  await using logs = await tempDir()
  const records: Record<string, SampleRecord> = {}
  const agent = ({ sample, ...context }: Parameters<ReturnType<typeof scripted>>[0]) =>
    scripted([sample.input])({ sample, ...context })
  const { evals, left } = await evaluate(
    defineTask({ name: 'verified', sandbox: IMAGE, agent, ...definition }),
    {
      logDir: logs.path,
      ...options,
      onEvent: (event) => {
        if (event.type === 'sample-end') records[event.record.id] = event.record
      },
    },
  )
  expect(left).toEqual([])
  await work(records, `${evals[0]?.log.replace(/\.eval$/, '')}.artifacts`)
}

const PLANT = `mkdir -p /logs/verifier && echo 1 > /logs/verifier/reward.txt && echo '{"reward":1}' > /logs/verifier/reward.json
setsid sh -c 'while true; do echo 1 > /logs/verifier/reward.txt; sleep 0.1; done' > /dev/null 2>&1 &
sleep 0.3`

it('a reward that an agent planted, or goes on planting, counts for nothing', {
  timeout: 60_000,
}, async () => {
  const test =
    'v=0; [ "$(cat /w/answer 2>/dev/null)" = 42 ] && v=1; echo $v > /logs/verifier/reward.txt; sleep 0.5'
  const tests = { '/tests/test.sh': test }
  const dataset = [
    { id: 'honest', input: 'mkdir -p /w; echo 42 > /w/answer', tests },
    { id: 'hostile', input: PLANT, tests },
  ]
  const scorers = [rewardFile(['sh', '/tests/test.sh'])]
  await judged({ dataset, scorers, agentProcesses: 'kill' }, async ({ honest, hostile }) => {
    expect(honest?.scores).toMatchObject({ reward: { value: 1 } })
    expect(hostile?.scores).toMatchObject({
      reward: {
        value: 0,
        metadata: { planted: ['/logs/verifier/reward.json', '/logs/verifier/reward.txt'] },
      },
    })
  })
})

const HOSTILE = `mkdir -p /w/out/sub && cd /w/out && echo 42 > answer && echo in > sub/in
ln -s /etc/shadow absolute; ln -s ../../../../etc/passwd above; ln -s sub/in inside
mkfifo pipe; mknod device c 1 3; chmod 4755 answer; chmod 000 sub/in
ln -s /etc /w/folder; mkfifo /w/pipe; head -c 2000000 /dev/zero > /w/large
mkdir /w/deep; (cd /w/deep; i=0; while [ $i -lt 60 ]; do d=$(printf %0100d $i); mkdir $d && cd $d; i=$((i + 1)); done)
printf '#!/bin/sh\\nexit 0\\n' > /bin/grep; sleep 1000 > /dev/null 2>&1 &`

const CHECK = `check() { if eval "$2"; then echo "ok - $1"; else echo "not ok - $1"; fi; }
{
  check answer 'grep -q 42 /w/out/answer'
  check 'no rights of its own' '[ ! -u /w/out/answer ] && [ "$(stat -c %u /w/out/answer)" = 0 ]'
  check 'no link that leads out' '[ ! -e /w/out/absolute ] && [ ! -L /w/out/absolute ] && [ ! -L /w/out/above ]'
  check 'nothing special' '[ ! -e /w/out/pipe ] && [ ! -e /w/out/device ] && [ ! -e /w/pipe ]'
  check 'nothing else' '[ ! -e /w/large ] && [ ! -e /w/hidden ]'
  check 'no network' '[ "$(ls /sys/class/net)" = lo ]'
  check 'its own tools' '! echo a | grep -q b'
  check 'nobody else' '[ "$(ps -o args | grep -c "sleep 1000")" -le 1 ]'
  echo 1..8
} > /out/report.tap`

it.each(['guest', 'engine'] as const)(
  'a verifier judges what an agent left in a sandbox of its own, of which only artifacts come (%s)',
  { timeout: 120_000 },
  async (transport) => {
    const definition = {
      dataset: [
        { id: 'hostile', input: `touch /w-hidden; ${HOSTILE}`, tests: { '/tests/check.sh': CHECK } },
        { id: 'nothing', input: 'true', tests: { '/tests/check.sh': CHECK } },
      ],
      artifacts: ['/w/out', '/w/pipe', '/w/large', '/w/deep'],
      maxArtifactBytes: 1_000_000,
      verifier: IMAGE,
      scorers: [testSuite(['sh', '/tests/check.sh'], { report: '/out/report.tap' })],
    }
    await judged(
      definition,
      async ({ hostile, nothing }, artifacts) => {
        const { tests, ...facts } = hostile?.scores.test_suite?.metadata ?? {}
        expect((tests as { status: string }[]).filter(({ status }) => status !== 'passed')).toEqual([])
        expect([hostile?.scores.test_suite?.value, facts]).toMatchObject([1, { passed: 8, failed: 0 }])
        expect(hostile?.artifacts?.map(({ name, status }) => [name, status])).toEqual([
          ['/w/out', 'taken'],
          ['/w/pipe', 'refused'],
          ['/w/large', 'too-large'],
          ['/w/deep', 'refused'],
        ])
        expect(hostile?.verifier?.images).toEqual(hostile?.sandbox?.images)
        expect(nothing?.scores).toMatchObject({ test_suite: { value: 0 } })
        expect(nothing?.artifacts?.map(({ status }) => status)).toEqual(Array(4).fill('missing'))
        const out = join(artifacts, 'hostile_epoch-1_attempt-1/w/out')
        expect((await readdir(out)).sort()).toEqual(['answer', 'inside', 'sub'])
        expect((await lstat(join(out, 'answer'))).mode & 0o7777).toBe(0o755)
      },
      { maxSandboxes: 1, transport },
    )
  },
)
