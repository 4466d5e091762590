import { describe, expect, it } from 'vitest'
import type { EvaluateOptions } from '../../../../src/run/options.ts'
import { RESUME_RULES } from '../../../../src/run/resume/rules.ts'
import type { TaskDefinition, TaskMeta } from '../../../../src/task/task.ts'

type Complete = Record<keyof EvaluateOptions | keyof TaskDefinition | keyof TaskMeta, unknown>

describe('what may change when an eval goes on', () => {
  it('is said of every option and field: a table that lacks one does not compile', () => {
    const { maxSamples: _left, ...incomplete } = RESUME_RULES
    const complete: Complete = RESUME_RULES
    // @ts-expect-error: an option has no rule
    const lacking: Complete = incomplete
    expect(Object.keys(complete)).toHaveLength(Object.keys(lacking).length + 1)
  })
})
