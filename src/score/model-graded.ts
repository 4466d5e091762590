import type { Model } from '../agent/model.ts'
import { ConfigError } from '../errors.ts'
import { textOf } from '../sample/content.ts'
import type { Score, Scorer, ScorerContext } from './scorer.ts'

export interface ModelGradedOptions {
  /** Default `model_graded`. */
  readonly name?: string
  /** What the grader is asked, with `{question}`, `{answer}`, `{criterion}` and `{instructions}`, and `{metadata.KEY}`. */
  readonly template?: string
  /** What a good answer is (default: the sample's target). */
  readonly criterion?: string
  readonly instructions?: string
  /** Whether a part may be right: P, which counts 0.5 (default false). */
  readonly partialCredit?: boolean
  /** Who grades: a role (default `grader`), models, or both; several vote, and where none has the most votes the sample is unscored. */
  readonly graders?: readonly (string | Model)[]
  /** What of the agent is graded (default: its output). */
  readonly answer?: (context: ScorerContext) => string
}

const TEMPLATE = `Compare an answer to a question with what is expected.

[Question]
{question}

[Answer]
{answer}

[Expected]
{criterion}

[End of data]

{instructions}`

const GRADES = (
  partial: boolean,
) => `Does the answer meet what is expected? Give your reasons first, step by step. Then end with a line of the form
'GRADE: X', where X is C for a correct answer, ${partial ? 'P for one that is right in part, ' : ''}or I for an incorrect one.`

/**
 * Judges by a model. A grade that cannot be read leaves the sample unscored, which is not zero.
 * @throws ConfigError for a sample without a target where no criterion is given, and for a placeholder that nothing fills
 */
export function modelGraded(options: ModelGradedOptions = {}): Scorer {
  const { name = 'model_graded', graders = ['grader'] } = options
  return {
    name,
    async score(context): Promise<Score | null> {
      const prompt = promptFor(context, { ...options, name })
      const verdicts = await Promise.all(
        graders.map((grader) => {
          const model = typeof grader === 'string' ? context.modelRole(grader) : context.metered(grader)
          return grade(model, prompt, { partial: options.partialCredit ?? false, signal: context.signal })
        }),
      )
      const value = majority(verdicts.flatMap(({ value: one }) => one ?? []))
      if (value === undefined) return null
      const explanation = verdicts.map(({ text }) => text).join('\n\n')
      const metadata =
        graders.length > 1 ? { grades: verdicts.map(({ value: one }) => one ?? null) } : undefined
      return { value, answer: answerOf(context, options), explanation, ...(metadata && { metadata }) }
    },
  }
}

function answerOf(context: ScorerContext, { answer }: ModelGradedOptions): string {
  return answer ? answer(context) : context.state.output
}

function promptFor(context: ScorerContext, options: ModelGradedOptions & { name: string }): string {
  const { sample } = context
  const { template = TEMPLATE, instructions, partialCredit = false } = options
  const criterion =
    options.criterion ?? (sample.target === undefined ? undefined : [sample.target].flat().join('\n'))
  if (criterion === undefined)
    throw new ConfigError(`sample '${sample.id}' has no target, and no \`criterion\` is given`, {
      where: `scorer ${options.name}`,
    })
  const values: Readonly<Record<string, unknown>> = {
    question: sample.input,
    answer: answerOf(context, options),
    criterion,
    instructions: instructions ?? GRADES(partialCredit),
    ...Object.fromEntries(
      Object.entries(sample.metadata ?? {}).map(([key, value]) => [`metadata.${key}`, value]),
    ),
  }
  return template.replace(/\{([\w.-]+)\}/gu, (whole, key: string) => {
    if (Object.hasOwn(values, key)) return String(values[key])
    if (key.startsWith('metadata.'))
      throw new ConfigError(`sample '${sample.id}' has no ${key}`, { where: `scorer ${options.name}` })
    return whole
  })
}

interface Verdict {
  readonly value?: 'C' | 'P' | 'I'
  readonly text: string
}

async function grade(
  model: Model,
  prompt: string,
  options: { partial: boolean; signal: AbortSignal },
): Promise<Verdict> {
  const { message } = await model.generate({
    messages: [{ role: 'user', content: prompt }],
    tools: [],
    signal: options.signal,
  })
  const text = textOf(message.content)
  const letter = [...text.matchAll(/grade\s*:\s*\**\(?([CPI])\b/giu)].at(-1)?.[1]?.toUpperCase()
  if (letter === 'C' || letter === 'I' || (letter === 'P' && options.partial)) return { value: letter, text }
  return { text }
}

/** What more graders gave than gave anything else. */
function majority(grades: readonly ('C' | 'P' | 'I')[]): 'C' | 'P' | 'I' | undefined {
  const counts = (['C', 'P', 'I'] as const).map(
    (grade) => [grade, grades.filter((one) => one === grade).length] as const,
  )
  const [[first, most], [, second]] = counts.toSorted(([, a], [, b]) => b - a) as unknown as [
    ['C' | 'P' | 'I', number],
    ['C' | 'P' | 'I', number],
  ]
  return most > 0 && most > second ? first : undefined
}
