/** How often the agent of a sample runs a command, and its scorer one more. */
export const STEPS = 5

const TASK = `import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { defineTask, docker } from 'belljar'

const ids = JSON.parse(readFileSync(new URL('./ids.json', import.meta.url), 'utf8'))
const kinds = ['plain', 'plain', 'own', 'net']
const dataset = ids.map((id) => ({
  id,
  input: 'weather the storm',
  setup: 'echo once >> /tmp/setup',
  sandbox: docker(kinds[id % kinds.length] + '.yaml'),
}))
const many = 'x'.repeat(100_000)

/** Marks each command that starts, where the bench sees it. */
async function step(sandbox, life, number, script, expected) {
  const { exitCode, stdout } = await sandbox.exec(['sh', '-c', 'echo ' + number + ' >> /marks/' + life + '; ' + script])
  if (exitCode !== 0 || stdout !== expected)
    throw new Error('command ' + number + ' gave exit code ' + exitCode + ' and ' + JSON.stringify(stdout.slice(0, 200)))
}

const agent = async ({ sandbox, sample }) => {
  const life = randomUUID()
  const text = life + ' of ' + sample.id
  await step(sandbox, life, 0, 'cat /tmp/setup', 'once\\n')
  await step(sandbox, life, 1, 'sleep 0.4; echo done', 'done\\n')
  await sandbox.writeFile('/tmp/text', text)
  await step(sandbox, life, 2, 'cat /tmp/text', text)
  if ((await sandbox.readText('/tmp/text')) !== text) throw new Error('what was read is not what was written')
  await step(sandbox, life, 3, 'head -c 100000 /dev/zero | tr "\\\\0" x', many)
  await step(sandbox, life, 4, 'sleep 0.4; rm /tmp/setup', '')
  return life
}

const intact = {
  name: 'intact',
  score: async ({ sandbox, sample, state }) => {
    const life = state.output
    const { stdout } = await sandbox.exec(['sh', '-c', 'echo score >> /marks/' + life + '; cat /tmp/text'])
    return { value: stdout === life + ' of ' + sample.id ? 1 : 0 }
  },
}

export default defineTask({ name: 'storm', dataset, agent, scorers: [intact] })
`

const service = (name: string, more = '', volumes = "'./marks:/marks'") => `services:
  ${name}:
    image: busybox:latest
    volumes: [${volumes}]
${more}`
const OTHER = `  other:
    image: busybox:latest
    command: ['sleep', '3600']
volumes: { data: {} }
`
const GROW = 'until [ -e /tmp/grow ]; do sleep 0.2; done; x=grow; while :; do x="$$x$$x"; done'

/** What one belljar process of the bench is given: a task with three sorts of sandboxes. */
export function taskFiles(ids: readonly number[]): Record<string, string> {
  return {
    'task.ts': TASK,
    'ids.json': JSON.stringify(ids),
    'marks/.keep': '',
    'plain.yaml': service('default', '    network_mode: none\n'),
    'own.yaml': service(
      'own',
      `    network_mode: none\n    mem_limit: 32m\n    command: ['sh', '-c', '${GROW}']\n`,
    ),
    'net.yaml': service('default', OTHER, "'./marks:/marks', 'data:/data'"),
  }
}
