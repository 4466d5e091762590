import { cliAgent, command, defineTask } from 'belljar'

export default defineTask({
  name: 'count-words',
  dataset: [
    {
      id: 'words',
      input: 'How many words has /work/text.txt? Write the number to /work/count.txt.',
      files: { '/work/text.txt': 'a bell jar keeps what is inside inside' },
      tests: { '/tests/check.sh': 'test "$(cat /work/count.txt)" = 8' },
    },
  ],
  sandbox: 'docker:Dockerfile',
  agent: cliAgent({
    name: 'small-agent',
    command: ({ prompt }) => ['python3', '/opt/agent.py', prompt],
    env: ({ model }) => ({ MODEL: model }),
    parse: ({ stdout }) => stdout.trim().split('\n').at(-1) ?? '',
  }),
  scorers: [command(['sh', '/tests/check.sh'])],
})
