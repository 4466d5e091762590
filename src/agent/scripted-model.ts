import { setImmediate } from 'node:timers/promises'
import { BelljarError } from '../errors.ts'
import type { ToolCall } from './messages.ts'
import type { Model, ModelOutput, ModelRequest, ModelUsage, StopReason } from './model.ts'

/** A text, or an answer in parts. Ids of tool calls are made when left out. */
export type ScriptedOutput =
  | string
  | {
      readonly text?: string
      readonly toolCalls?: readonly (Omit<ToolCall, 'id'> & { readonly id?: string })[]
      readonly stopReason?: StopReason
      /** Default: no tokens. */
      readonly usage?: ModelUsage
    }

/** Answers in order, shared by every sample that asks; or a function of the request and of how many calls came before. */
export type ModelScript =
  | readonly ScriptedOutput[]
  | ((request: ModelRequest, call: number) => ScriptedOutput | Promise<ScriptedOutput>)

export interface ScriptedModelOptions {
  /** Default `scripted`. */
  readonly name?: string
}

/** A model for tests that answers as told. A list that has run out is a BelljarError `script-ended`. */
export function scriptedModel(script: ModelScript, options: ScriptedModelOptions = {}): Model {
  const name = options.name ?? 'scripted'
  let calls = 0
  return {
    name,
    async generate(request) {
      // As a real one it leaves others their turn: many that never wait would hold up the whole process.
      await setImmediate()
      request.signal?.throwIfAborted()
      const call = calls++
      const output =
        typeof script === 'function' ? await script(request, call) : scriptedAnswer(script, call, name)
      return modelOutput(output, { name, call })
    },
  }
}

function scriptedAnswer(script: readonly ScriptedOutput[], call: number, name: string): ScriptedOutput {
  const output = script[call]
  if (output !== undefined) return output
  throw new BelljarError(
    'script-ended',
    `the script of model '${name}' has ${script.length} answers, but call ${call + 1} was made`,
  )
}

function modelOutput(output: ScriptedOutput, { name, call }: { name: string; call: number }): ModelOutput {
  const parts = typeof output === 'string' ? { text: output } : output
  const toolCalls = parts.toolCalls?.map((toolCall, index) => ({
    ...toolCall,
    id: toolCall.id ?? `call-${call + 1}-${index + 1}`,
  }))
  return {
    message: { role: 'assistant', content: parts.text ?? '', toolCalls, model: name },
    stopReason: parts.stopReason ?? (toolCalls === undefined ? 'stop' : 'tool-calls'),
    usage: parts.usage ?? { inputTokens: 0, outputTokens: 0 },
  }
}
