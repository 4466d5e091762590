import type { ContentPart } from '../../../sample/content.ts'
import { textOf } from '../../../sample/content.ts'
import type { ToolCall } from '../../messages.ts'
import type { ModelOutput } from '../../model.ts'

/** An answer taken apart as every API needs it. */
export interface Answer {
  readonly reasoning: readonly Extract<ContentPart, { type: 'reasoning' }>[]
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
}

export function answerOf({ message }: ModelOutput): Answer {
  const { content, toolCalls = [] } = message
  const parts = typeof content === 'string' ? [] : content
  return {
    reasoning: parts.filter((part) => part.type === 'reasoning'),
    text: textOf(content),
    toolCalls,
  }
}

/** Seconds since the epoch. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
