import { defineTask, docker, math, testSuite, textEditor, toolLoop } from 'belljar'

const IMAGE = docker({ image: 'busybox:latest' })

/** Hidden tests: they come into the verifier's sandbox when the agent's is gone, and write TAP. */
const TESTS = `check() {
  if [ "$(sh /work/sum.sh $2)" = "$3" ]; then echo "ok - $1"; else echo "not ok - $1"; fi
}
{
  check 'adds two' '1 2' 3
  check 'adds many' '1 2 3 4 5 6 7 8 9 10' 55
  check 'takes negative numbers' '-5 2' -3
  echo 1..3
} > /results/report.tap
`

export default defineTask({
  name: 'sum-script',
  dataset: [
    {
      id: 'sum',
      input:
        'Write /work/sum.sh, a shell script that prints the sum of its arguments. Then say what it prints for 1/2 of a dozen and 0.5.',
      target: '6.5',
      tests: { '/tests/run.sh': TESTS },
    },
  ],
  sandbox: IMAGE,
  agent: toolLoop({ tools: [textEditor()] }),
  artifacts: ['/work'],
  verifier: IMAGE,
  scorers: [testSuite(['sh', '/tests/run.sh'], { report: '/results/report.tap', score: 'share' }), math()],
  limits: { turns: 20 },
})
