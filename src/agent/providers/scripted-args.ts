import { z } from 'zod'
import { BelljarError, ConfigError } from '../../errors.ts'
import type { Model } from '../model.ts'
import { type ScriptedOutput, scriptedModel } from '../scripted-model.ts'

const outputsSchema = z
  .array(
    z.union([
      z.string(),
      z.strictObject({
        text: z.string().optional(),
        toolCalls: z
          .array(
            z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) }),
          )
          .optional(),
      }),
    ]),
  )
  .min(1)

/** The model `scripted`: answers each conversation with `outputs`, one a turn, from the first on. @throws ConfigError */
export function scriptedFromArgs(args: Readonly<Record<string, unknown>> = {}): Model {
  const { outputs, ...more } = args
  const parsed = outputsSchema.safeParse(outputs)
  const [unknown] = Object.keys(more)
  if (unknown !== undefined || !parsed.success)
    throw new ConfigError(
      unknown === undefined
        ? 'expected its answers as `outputs`: a list of texts, or of objects with text and toolCalls'
        : `unknown argument '${unknown}'; expected outputs`,
      { where: "model 'scripted'" },
    )
  const script = parsed.data as readonly ScriptedOutput[]
  return scriptedModel(({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'assistant').length
    const output = script[turn]
    if (output !== undefined) return output
    throw new BelljarError(
      'script-ended',
      `the script has ${script.length} answers, but turn ${turn + 1} was asked for`,
    )
  })
}
