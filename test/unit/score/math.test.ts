import { describe, expect, it } from 'vitest'
import { type MathOptions, math } from '../../../src/score/math/math.ts'
import { scorerContext } from '../../support/agent-context.ts'

async function judged(output: string, target: string | readonly string[], options?: MathOptions) {
  return await math(options).score(scorerContext({ output, sample: { target } }))
}

const verdict = async (output: string, target: string | readonly string[], options?: MathOptions) =>
  (await judged(output, target, options))?.value

describe('math', () => {
  it.each([
    ['1/2', '0.5'],
    ['\\frac{1}{2}', '.5'],
    ['\\dfrac12', '\\frac{2}{4}'],
    ['1,234,567', '1234567'],
    ['1{,}234', '1\\,234'],
    ['$1,000.50', '1000.5'],
    ['50\\%', '1/2'],
    ['50%', '50'],
    ['50 percent', '0.5'],
    ['2.5 million', '2,500,000'],
    ['3 thousand dollars', '3000'],
    ['\\sqrt{8}', '2\\sqrt{2}'],
    ['\\sqrt[3]{-27}', '-3'],
    ['\\frac{\\sqrt{3}}{3}', '\\frac{1}{\\sqrt{3}}'],
    ['1\\frac{3}{4}', '7/4'],
    ['1 1/2', '1.5'],
    ['0.\\overline{3}', '1/3'],
    ['1.5 \\times 10^{3}', '1500'],
    ['1.5e3', '1500'],
    ['2\\pi', '6.283185307179586'],
    ['5!', '120'],
    ['\\binom{5}{2}', '10'],
    ['|-3|', '3'],
    ['-\\frac{1}{2}', '\\frac{-1}{2}'],
    ['90^\\circ', '90'],
    ['12 cm', '12'],
    ['12\\text{ cm}^2', '12 \\text{ cm}^2'],
    ['60 miles per hour', '60'],
    ['x = 5', '5'],
    ['f(x) = 2x + 1', '1 + 2x'],
    ['(x+1)^2', 'x^2 + 2x + 1'],
    ['\\frac{x^2-1}{x-1}', 'x+1'],
    ['\\log_2 8', '3'],
    ['\\sin(\\pi/6)', '1/2'],
    ['(1, 2)', '(1,2)'],
    ['\\left( \\frac12, 3 \\right)', '(0.5, 3)'],
    ['[1, 2)', '[1,2)'],
    ['x \\in (-\\infty, 3]', '(-\\infty,3]'],
    ['(-\\infty, 0) \\cup (1, \\infty)', '(1,\\infty)\\cup(-\\infty,0)'],
    ['\\{3, 1, 2\\}', '\\{1,2,3\\}'],
    ['1, 2', '2, 1'],
    ['x = 2 or 3', '2, 3'],
    ['\\pm 2', '-2, 2'],
    ['\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}', '\\begin{bmatrix}1&2\\\\3&4\\end{bmatrix}'],
    ['\\text{Monday}', 'monday'],
    ['x_1 + 1', '1 + x_{1}'],
    ['−7', '-7'],
    ['10_8', '10_{8}'],
    [`${10n ** 40n + 1n}`, `${10n ** 40n + 1n}.0`],
  ])('%s is %s', async (output, target) => {
    expect(await verdict(`\\boxed{${output}}`, target)).toBe('C')
    expect(await verdict(`\\boxed{${target}}`, output)).toBe('C')
  })

  it.each([
    ['1/3', '0.333'],
    ['0.30000000000000004', '0.3'],
    [`${10n ** 40n + 1n}`, `${10n ** 40n}`],
    ['1,2', '12'],
    ['(1, 2)', '(2, 1)'],
    ['(1, 2)', '[1, 2]'],
    ['[1, 2)', '[1, 2]'],
    ['1, 2', '1, 2, 3'],
    ['\\{1, 1, 2\\}', '\\{1, 2, 2\\}'],
    ['x + 1', 'x + 2'],
    ['x', 'y'],
    ['12 cm', '12 m'],
    ['10_8', '10'],
    ['50%', '0.05'],
    ['10^{400}', '9^{999999}'],
    ['\\infty', '10^{999}'],
    ['\\frac{1}{0}', '\\frac{2}{0}'],
    ['Monday', 'Tuesday'],
    ['', '0'],
    ['5 apples', '6 apples'],
    ['2xy', '2'],
  ])('%s is not %s', async (output, target) => {
    expect(await verdict(`\\boxed{${output}}`, target)).toBe('I')
    expect(await verdict(`\\boxed{${target}}`, output)).toBe('I')
  })

  it.each([
    ['So it is \\boxed{\\frac{1}{2}}, not \\(3\\).', '\\frac{1}{2}'],
    ['\\boxed{1} and then \\boxed{2}', '2'],
    ['\\boxed{\\boxed{7}}', '7'],
    ['ANSWER: 3\nthat is all', '3'],
    ['I think 4.\nThe answer is $12$.', '12'],
    ['We get $x = 3$ so that $y = 9$', 'y = 9'],
    ['First 12\nand then 13 of them', '13'],
    ['42', '42'],
    ['It is 13/2', '6.5'],
    ['There are 1,200 of them, or 12.', '12'],
    ['there are 1,200, no more', '1200'],
    ['no solution', '\\text{no solution}'],
    ['It costs about $3.50.', '3.5'],
    ['that is 50%', '0.5'],
    ['so it is -4', '-4'],
    ['the version is v2 and the number 7', '7'],
  ])('takes from %j the answer %j', async (output, target) => {
    expect(await judged(output, target)).toMatchObject({ value: 'C' })
  })

  it('lets a number be off by the tolerance that is given', async () => {
    expect(await verdict('0.333', '1/3', { tolerance: 0.01 })).toBe('C')
    expect(await verdict('0.3', '1/3', { tolerance: 0.01 })).toBe('I')
    expect(() => math({ tolerance: -1 })).toThrow('expected a tolerance')
  })

  it('takes any of several targets, and a whole solution as one', async () => {
    expect(await verdict('7', ['6', '7'])).toBe('C')
    expect(await verdict('7', 'As shown, \\boxed{7}.')).toBe('C')
  })

  it.each([
    ['a tower of powers', '9^9^9^9^9^9^9^9'],
    ['a large power', '(10^{299})^{999999999}'],
    ['brackets without end', '('.repeat(100_000)],
    ['boxes without end', '\\boxed{'.repeat(50_000)],
    ['fractions in fractions', `${'\\frac{1}{'.repeat(40)}3${'}'.repeat(40)}`],
    ['factorials', `${'(170!)'.repeat(80)}`],
    ['many answers', 'answer: '.repeat(100_000)],
    ['one long number', '9'.repeat(1_000_000)],
    ['a root of a large product', '\\sqrt{1000000016000000063}'],
    ['spaces', `${' '.repeat(200_000)}1`],
    ['dollars', '$'.repeat(200_000)],
  ])('is done at once with %s', async (_name, output) => {
    const startedMs = performance.now()
    await verdict(output, '1')
    await verdict('1', output.slice(0, 1000))
    expect(performance.now() - startedMs).toBeLessThan(2000)
  })
})
