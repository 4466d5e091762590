import { describe, expect, it } from 'vitest'
import { type ScriptedOutput, scriptedModel } from '../../../src/agent/scripted-model.ts'
import { answer } from '../../../src/score/answer.ts'
import { choice, choicePrompt } from '../../../src/score/choice.ts'
import { f1 } from '../../../src/score/f1.ts'
import { type ModelGradedOptions, modelGraded } from '../../../src/score/model-graded.ts'
import { scorerContext } from '../../support/agent-context.ts'

describe('answer', () => {
  it.each([
    ['letter', 'ANSWER: A\nNo, wait. Answer: (b).', 'B', 'C'],
    ['letter', 'ANSWER: Because', 'B', 'I'],
    ['word', 'So the answer: Paris.', 'paris', 'C'],
    ['line', 'ANSWER: New York City \n', 'new york city', 'C'],
    ['line', 'It is New York.', 'New York', 'I'],
  ] as const)('reads a %s of %j', async (kind, output, target, value) => {
    expect(await answer(kind).score(scorerContext({ output, sample: { target } }))).toMatchObject({ value })
  })
})

describe('choice', () => {
  const choices = ['one', 'two', 'three']
  it.each([
    ['ANSWER: B', 'B', 'C'],
    ['I say\nANSWER: c, a', ['A', 'C'], 'C'],
    ['ANSWER: A and C.', ['A', 'C'], 'C'],
    ['AC', ['C', 'A'], 'C'],
    ['ANSWER: A', ['A', 'C'], 'I'],
    ['ANSWER: A, B, C', ['A', 'C'], 'I'],
    ['(b)', 'B', 'C'],
    ['Surely the second.', 'B', 'I'],
    ['ANSWER: Z', 'B', 'I'],
  ] as const)('judges %j against %j', async (output, target, value) => {
    const sample = { target: target as string | string[], choices }
    expect(await choice().score(scorerContext({ output, sample }))).toMatchObject({ value })
  })

  it('needs choices, and writes the question', async () => {
    await expect(choice().score(scorerContext({ sample: { target: 'A' } }))).rejects.toMatchObject({
      code: 'config',
    })
    expect(choicePrompt('Which?', choices)).toMatch(/^Which\?\n\nA\) one\nB\) two\nC\) three\n/)
  })
})

describe('f1', () => {
  it.each([
    ['The cat sat.', 'cat sat', 1],
    ['a cat', 'dog', 0],
    ['cat cat dog', 'cat', 0.5],
    ['the', '', 1],
    ['x', ['y', 'X!'], 1],
  ] as const)('of %j for %j is %d', async (output, target, value) => {
    const sample = { target: target as string | string[] }
    expect(await f1().score(scorerContext({ output, sample }))).toMatchObject({ value })
  })

  it('is unscored without a target', async () => {
    expect(await f1().score(scorerContext({ output: 'x' }))).toBeNull()
  })
})

describe('modelGraded', () => {
  const grades = (
    outputs: ScriptedOutput[],
    options: ModelGradedOptions = {},
    target: string | undefined = '42',
  ) => {
    const model = scriptedModel(outputs)
    const context = scorerContext({
      model,
      output: 'forty-two',
      sample: { target, metadata: { field: 'sums' } },
    })
    return modelGraded(options).score(context)
  }

  it('asks the grader with question, answer and target, and reads the last grade', async () => {
    let asked = ''
    const grader = scriptedModel(({ messages }) => {
      asked = String(messages[0]?.content)
      return 'At first GRADE: I, but no.\nGRADE: **C**'
    })
    const context = scorerContext({ roles: { grader }, output: 'forty-two', sample: { target: '42' } })
    expect(await modelGraded().score(context)).toMatchObject({ value: 'C', answer: 'forty-two' })
    for (const part of ['What is six times seven?', 'forty-two', '42']) expect(asked).toContain(part)
  })

  it('leaves unscored what has no grade, and partial ones unless they are allowed', async () => {
    expect(await grades(['no idea'])).toBeNull()
    expect(await grades(['GRADE: P'])).toBeNull()
    expect(await grades(['GRADE: P'], { partialCredit: true })).toMatchObject({ value: 'P' })
  })

  it('lets several graders vote; a tie is no score', async () => {
    const graders = ['a', 'b', 'c']
    expect(await grades(['GRADE: C', 'GRADE: I', 'GRADE: C'], { graders })).toMatchObject({
      value: 'C',
      metadata: { grades: ['C', 'I', 'C'] },
    })
    expect(await grades(['GRADE: C', 'GRADE: I', 'none'], { graders })).toBeNull()
  })

  it('fills a template of the task, and names what it cannot fill', async () => {
    expect(await grades(['GRADE: C'], { template: '{metadata.field} {answer} {other} $&' })).toMatchObject({
      value: 'C',
    })
    await expect(grades(['GRADE: C'], { template: '{metadata.none}' })).rejects.toThrow(
      'has no metadata.none',
    )
    const context = scorerContext({ model: scriptedModel(['GRADE: C']), output: 'x' })
    await expect(modelGraded().score(context)).rejects.toThrow('no target')
    expect(await modelGraded({ criterion: 'is short' }).score(context)).toMatchObject({ value: 'C' })
  })
})
