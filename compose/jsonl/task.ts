import { command, defineTask, docker, fileDataset, oracle } from 'belljar'

/** The oracle agent runs each sample's own solution: it proves that the tests can be passed. */
export default defineTask({
  name: 'jsonl',
  dataset: fileDataset('tasks.jsonl', { fields: { metadata: ['topic'] } }),
  sandbox: docker({ build: '../../sandboxes/debian' }),
  agent: oracle(),
  scorers: [command(['sh', '/tests/check.sh'])],
})
