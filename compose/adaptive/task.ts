import { command, defineTask, docker, type Sample, type SampleRecord, SampleSource, scripted } from 'belljar'

const HIGHEST_LEVEL = 10

function level(difficulty: number): Sample {
  const numbers = Array.from({ length: difficulty }, (_, index) => (index + 1) ** 2)
  const sum = numbers.reduce((total, number) => total + number, 0)
  return {
    id: `level-${difficulty}`,
    input: 'Write the sum of the numbers in /work/numbers.txt to /work/sum.txt.',
    target: String(sum),
    metadata: { difficulty },
    files: { '/work/numbers.txt': `${numbers.join('\n')}\n` },
    tests: { '/tests/check.sh': `test "$(cat /work/sum.txt)" -eq ${sum}` },
  }
}

function passed({ status, scores }: SampleRecord): boolean {
  return status === 'success' && scores.command?.value === 1
}

/** An agent with its limits: it never reads past the fifth number, so that it fails at level 6. */
const shortSighted = scripted([
  'total=0; for number in $(head -n 5 /work/numbers.txt); do total=$((total + number)); done; echo $total > /work/sum.txt',
])

export default defineTask({
  name: 'adaptive',
  dataset: () =>
    SampleSource.fromSamples([level(1)], {
      sampleComplete: async (sample) => {
        const difficulty = Number(sample.metadata.difficulty)
        return passed(sample) && difficulty < HIGHEST_LEVEL ? [level(difficulty + 1)] : null
      },
    }),
  sandbox: docker({ build: '../../sandboxes/minimal' }),
  agent: shortSighted,
  scorers: [command(['sh', '/tests/check.sh'])],
})
