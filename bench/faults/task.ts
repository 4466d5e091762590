const TASK = `import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { defineTask, docker } from 'belljar'

const ids = JSON.parse(readFileSync(new URL('./ids.json', import.meta.url), 'utf8'))
const kinds = [docker({ image: 'busybox:latest' }), docker({ image: 'busybox:latest' }), docker('own.yaml'), docker('net.yaml')]
const dataset = ids.map((id) => ({
  id,
  input: 'weather the storm',
  setup: 'mkdir -p /marks; echo once >> /tmp/setup',
  sandbox: kinds[id % kinds.length],
}))
const STEPS = 5
const many = 'x'.repeat(100_000)
const marks = (count) => Array.from({ length: count }, (_, number) => number + '\\n').join('')

/** Marks each command when it starts, and shows all marks so far. */
const marked = (sandbox, { life, number, script }) =>
  sandbox.exec(['sh', '-c', 'echo ' + number + ' >> /marks/' + life + '; cat /marks/' + life + ' >&2; ' + script])

async function step(sandbox, command, expected) {
  const { exitCode, stdout, stderr } = await marked(sandbox, command)
  if (exitCode === 0 && stdout === expected && stderr === marks(command.number + 1)) return
  const shown = JSON.stringify({ exitCode, stdout: stdout.slice(0, 200), stderr })
  throw new Error('command ' + command.number + ' gave ' + shown)
}

const agent = async ({ sandbox, sample }) => {
  const life = randomUUID()
  const text = life + ' of ' + sample.id
  await step(sandbox, { life, number: 0, script: 'cat /tmp/setup' }, 'once\\n')
  await step(sandbox, { life, number: 1, script: 'sleep 0.4; echo done' }, 'done\\n')
  await sandbox.writeFile('/tmp/text', text)
  await step(sandbox, { life, number: 2, script: 'cat /tmp/text' }, text)
  if ((await sandbox.readText('/tmp/text')) !== text) throw new Error('what was read is not what was written')
  await step(sandbox, { life, number: 3, script: 'head -c 100000 /dev/zero | tr "\\\\0" x' }, many)
  await step(sandbox, { life, number: 4, script: 'sleep 0.4; rm /tmp/setup' }, '')
  return life
}

const intact = {
  name: 'intact',
  score: async ({ sandbox, sample, state }) => {
    const life = state.output
    const { stdout, stderr } = await marked(sandbox, { life, number: STEPS, script: 'cat /tmp/text' })
    return { value: stdout === life + ' of ' + sample.id && stderr === marks(STEPS + 1) ? 1 : 0 }
  },
}

export default defineTask({ name: 'storm', dataset, agent, scorers: [intact] })
`

const GROW = 'until [ -e /tmp/grow ]; do sleep 0.2; done; x=grow; while :; do x="$$x$$x"; done'
const OWN = `services:
  own:
    image: busybox:latest
    network_mode: none
    mem_limit: 32m
    command: ['sh', '-c', '${GROW}']
    volumes: ['./marks:/marks']
`
const NET = `services:
  default:
    image: busybox:latest
    command: ['sleep', '3600']
    volumes: ['./marks:/marks', 'data:/data']
  other:
    image: busybox:latest
    command: ['sleep', '3600']
volumes: { data: {} }
`

/** What one belljar process of the bench is given: a task with three sorts of sandboxes. */
export function taskFiles(ids: readonly number[]): Record<string, string> {
  return {
    'task.ts': TASK,
    'ids.json': JSON.stringify(ids),
    'marks/.keep': '',
    'own.yaml': OWN,
    'net.yaml': NET,
  }
}
