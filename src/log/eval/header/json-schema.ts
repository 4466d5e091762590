import type { ToolDescription } from '../../../agent/model.ts'

type Schema = Readonly<Record<string, unknown>>

const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']
const isType = (value: unknown) => typeof value === 'string' && TYPES.includes(value)
const isText = (value: unknown) => typeof value === 'string'
const isNumber = (value: unknown) => typeof value === 'number'
const isTextList = (value: unknown) => Array.isArray(value) && value.every(isText)

/** Keys that are kept as they are, and when. */
const PLAIN: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) => isType(value) || (Array.isArray(value) && value.every(isType)),
  format: isText,
  description: isText,
  default: () => true,
  enum: Array.isArray,
  required: isTextList,
  pattern: isText,
  minLength: Number.isInteger,
  maxLength: Number.isInteger,
  minimum: isNumber,
  maximum: isNumber,
  examples: Array.isArray,
}

/** As much of a JSON Schema as Inspect's has room for: one that does not fit makes it refuse the log (inspect_ai/util/_json.py, 0.3.285). */
export function toEvalSchema(schema: unknown): Record<string, unknown> {
  if (!isRecord(schema)) return {}
  const result: Record<string, unknown> = {}
  for (const [key, fits] of Object.entries(PLAIN))
    if (key in schema && fits(schema[key])) result[key] = schema[key]
  if (isRecord(schema.items)) result.items = toEvalSchema(schema.items)
  if (isRecord(schema.properties)) result.properties = properties(schema.properties)
  if (Array.isArray(schema.anyOf)) result.anyOf = schema.anyOf.map(toEvalSchema)
  const { additionalProperties: more } = schema
  if (typeof more === 'boolean') result.additionalProperties = more
  else if (isRecord(more)) result.additionalProperties = toEvalSchema(more)
  return result
}

export function toEvalTool({ name, description, parameters }: ToolDescription) {
  const { required, additionalProperties = false } = toEvalSchema(parameters)
  return {
    name,
    description,
    parameters: {
      type: 'object',
      properties: isRecord(parameters.properties) ? properties(parameters.properties) : {},
      required: required ?? [],
      additionalProperties,
    },
  }
}

function properties(given: Schema): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).map(([name, schema]) => [name, toEvalSchema(schema)]))
}

function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
