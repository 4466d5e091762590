import { describe, expect, it } from 'vitest'
import { chooseSandbox, droppedConfig } from '../../../src/run/config/sandbox-choice.ts'
import type { SandboxSpec } from '../../../src/sample/sandbox-spec.ts'

/** The specifications that any of the four may have: of two kinds, each with and without a configuration, which says whose it is. */
const forms = (whose: string): (SandboxSpec | undefined)[] => [
  undefined,
  { kind: 'docker' },
  { kind: 'docker', config: { image: whose } },
  { kind: 'other' },
  { kind: 'other', config: { image: whose } },
]

interface Case {
  readonly run: SandboxSpec | undefined
  readonly task: SandboxSpec | false | undefined
  readonly sample: SandboxSpec | undefined
  readonly discovered: SandboxSpec | undefined
}

const cases: Case[] = forms('run').flatMap((run) =>
  [...forms('task'), false as const].flatMap((task) =>
    forms('sample').flatMap((sample) =>
      [undefined, { kind: 'docker', config: { compose: 'discovered' } }].map((discovered) => ({
        run,
        task,
        sample,
        discovered,
      })),
    ),
  ),
)

type Choice = SandboxSpec | 'none' | 'refused'

function chosen({ run, task, sample, discovered }: Case): Choice {
  try {
    return chooseSandbox({ run, task, discovered }, { sandbox: sample }) ?? 'none'
  } catch {
    return 'refused'
  }
}

/** The rules, in the words of the manual. */
function expected({ run, task, sample, discovered }: Case): Choice {
  if (task === false && !run) return 'none'
  const kind = run?.kind ?? (task || undefined)?.kind ?? sample?.kind ?? discovered?.kind
  if (!kind) return 'none'
  const config = [sample, run, task || undefined, discovered].find(
    (spec) => spec?.kind === kind && spec.config,
  )?.config
  if (config) return { kind, config }
  return kind === 'docker' ? 'refused' : { kind }
}

describe('which sandbox a sample gets', () => {
  it('follows the rules for every combination of run, task, sample and what lies beside the task', () => {
    expect(cases).toHaveLength(300)
    for (const one of cases) expect([one, chosen(one)]).toEqual([one, expected(one)])
  })

  const own = { kind: 'docker', config: { image: 'own' } }
  it.each<[string, Partial<Case>, Choice]>([
    ['none where nobody names one', {}, 'none'],
    ['none where the task wants none, whatever the sample says', { task: false, sample: own }, 'none'],
    ['the one of the run even where the task wants none', { task: false, run: own }, own],
    [
      'its own before that of the task, where the kind is the same',
      { task: { kind: 'docker', config: { image: 'task' } }, sample: own },
      own,
    ],
    [
      'not its own where the task is of another kind',
      { task: { kind: 'other' }, sample: own },
      { kind: 'other' },
    ],
    ['what lies beside the task for a bare docker', { task: { kind: 'docker' }, discovered: own }, own],
    ['an error where docker has no configuration', { run: { kind: 'docker' } }, 'refused'],
  ])('is %s', (_what, some, choice) => {
    const one: Case = { run: undefined, task: undefined, sample: undefined, discovered: undefined, ...some }
    expect(chosen(one)).toEqual(choice)
  })
})

describe('a configuration that the option of a run leaves unused', () => {
  const task = { kind: 'docker', config: { image: 'x' } }
  it('is named', () => {
    expect(droppedConfig({ run: { kind: 'other' }, task, discovered: undefined })).toBe(
      `the task's sandbox {"image":"x"} is for 'docker' and is not used with --sandbox other`,
    )
  })

  it.each<[string, SandboxSpec | undefined, SandboxSpec | false | undefined]>([
    ['the kind is the same', { kind: 'docker' }, task],
    ['the run names none', undefined, task],
    ['the task has no configuration', { kind: 'other' }, { kind: 'docker' }],
    ['the task wants none', { kind: 'other' }, false],
  ])('is none when %s', (_what, run, choice) => {
    expect(droppedConfig({ run, task: choice, discovered: undefined })).toBeUndefined()
  })
})

describe('the sandbox that isolates nothing', () => {
  const choice = { run: undefined, task: undefined, discovered: undefined }
  const local = { kind: 'local' }

  it('is for a run or a task to choose', () => {
    expect(chooseSandbox({ ...choice, run: local }, {})).toEqual(local)
    expect(chooseSandbox({ ...choice, task: local }, { sandbox: local })).toEqual(local)
  })

  it('is not for a sample to choose', () => {
    expect(() => chooseSandbox(choice, { sandbox: local })).toThrow('only a task or a run may choose it')
    expect(() => chooseSandbox({ ...choice, task: { kind: 'docker' } }, { sandbox: local })).toThrow()
  })
})
