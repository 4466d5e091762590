import type { ToolCall } from '../messages.ts'

/** Arguments of a tool call as a model wrote them: JSON, or an object already. What is neither becomes an error for the model. */
export function readArguments(input: unknown): Pick<ToolCall, 'arguments' | 'parseError'> {
  if (typeof input !== 'string') return checked(input ?? {})
  if (input.trim() === '') return { arguments: {} }
  try {
    return checked(JSON.parse(input))
  } catch (error) {
    return { arguments: {}, parseError: `${(error as Error).message.slice(0, 200)}: ${shortened(input)}` }
  }
}

function checked(value: unknown): Pick<ToolCall, 'arguments' | 'parseError'> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return { arguments: value as Record<string, unknown> }
  return { arguments: {}, parseError: `expected an object, got ${shortened(JSON.stringify(value))}` }
}

function shortened(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}… (${text.length} characters)`
}
