import { defineTask } from 'belljar'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { HeaderRecord } from '../../../../../src/log/records/records.ts'
import { checkPart, ofPart } from '../../../../../src/run/set/plan/set-part.ts'
import {
  checkDistinct,
  type SetTask,
  setTaskOf,
  taskFinder,
} from '../../../../../src/run/set/plan/set-task.ts'
import { taskFromCode } from '../../../../../src/task/load-tasks.ts'
import { fakeTask, sample } from '../../../../support/fake-run.ts'
import { ResumeFolder } from '../../../../support/resume.ts'

const dataset = [sample('x')]
const factory = defineTask(
  { name: 'shots', parameters: z.object({ shots: z.number().default(3), style: z.string().optional() }) },
  ({ shots }) => ({
    dataset,
    agent: 'nop',
    sandbox: 'fake',
    setup: ({ effective }) => effective('shots', shots + 1),
  }),
)
const task = (given: Record<string, unknown>, model?: string) =>
  setTaskOf(taskFromCode(factory.create(given).task), model, (value) => value)

const isLogOf = (header: HeaderRecord, one: SetTask) => taskFinder([one])(header) === one

describe('an eval of a set', () => {
  it('is told apart by task, arguments and model, and by nothing else', async () => {
    const keys = await Promise.all([
      task({}),
      task({ shots: 4 }),
      task({ style: 'x' }),
      task({}, 'openai/a'),
      task({}, 'openai/b'),
      setTaskOf(taskFromCode(fakeTask({ name: 'other', dataset })), undefined, (value) => value),
    ])
    expect(new Set(keys.map(({ key }) => key)).size).toBe(6)
    expect((await task({ shots: 3 })).key).toBe((await task({})).key)
    const tagged = fakeTask({ name: 'other', dataset, tags: ['new'], epochs: 2 })
    expect((await setTaskOf(taskFromCode(tagged), undefined, (value) => value)).key).toBe(keys[5]?.key)
  })

  it('is known in its log, whatever its setup has reported', async () => {
    await using folder = await ResumeFolder.make()
    const { header } = await folder.run(factory.create({ shots: 5 }).task)
    expect(header.task.parameters).toMatchObject({ shots: 6 })
    expect(isLogOf(header, await task({ shots: 5 }))).toBe(true)
    expect(isLogOf(header, await task({ shots: 6 }))).toBe(false)
    expect(isLogOf(header, await task({ shots: 5 }, 'openai/a'))).toBe(false)
  })

  it('is known by the id that its task had before', async () => {
    await using folder = await ResumeFolder.make()
    const { header } = await folder.run(fakeTask({ name: 'old', dataset }))
    const renamed = fakeTask({ name: 'new', dataset, aliases: ['belljar/old'] })
    expect(isLogOf(header, await setTaskOf(taskFromCode(renamed), undefined, (value) => value))).toBe(true)
  })

  it('is in a set once', async () => {
    const twice = [await task({ shots: 3 }), await task({}), await task({ shots: 4 })]
    expect(() => checkDistinct(twice)).toThrow(`belljar/shots (shots=3) is in the set twice`)
  })
})

describe('a part of a set', () => {
  const keyed = (keys: readonly string[]) => keys.map((key) => ({ key }))

  it('is one of equal parts that hold every task once, in whichever order tasks are named', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.stringMatching(/^[0-9a-f]{4,8}$/), { maxLength: 20 }),
        fc.integer({ min: 1, max: 6 }),
        (keys, of) => {
          const numbers = Array.from({ length: of }, (_, index) => index + 1)
          const parts = numbers.map((number) => ofPart(keyed(keys), { number, of }))
          expect(
            parts
              .flat()
              .map(({ key }) => key)
              .sort(),
          ).toEqual([...keys].sort())
          const sizes = parts.map(({ length }) => length)
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
          const reversed = ofPart(keyed([...keys].reverse()), { number: 1, of })
          expect(new Set(reversed.map(({ key }) => key))).toEqual(new Set(parts[0]?.map(({ key }) => key)))
        },
      ),
    )
  })

  it('is all where none is named', () => {
    expect(ofPart(keyed(['b', 'a']), undefined)).toEqual(keyed(['b', 'a']))
  })

  it.each([
    [0, 3],
    [4, 3],
    [1.5, 3],
    [1, 0],
  ])('%s of %s is refused', (number, of) => {
    expect(() => checkPart({ number, of })).toThrow(/part: expected a number from 1/)
  })
})
