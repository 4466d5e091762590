import { APICallError } from '@ai-sdk/provider'
import { errorMessage, ModelError, type ModelErrorKind } from '../../../errors.ts'
import { transientFacts } from '../../calls/retry.ts'
import { retryAfterMs } from './retry-after.ts'

/** Whatever `doGenerate` threw, as what callers catch. Errors that are not of the call are left as they are. */
export function toModelError(error: unknown, model: string): unknown {
  if (error instanceof ModelError) return error
  if (!APICallError.isInstance(error)) return otherError(error, model)
  const { statusCode, responseHeaders = {}, responseBody } = error
  const response = parsed(responseBody)
  const kind = kindOf(error, response)
  return new ModelError(messageOf(error, model, response), {
    kind,
    model,
    ...(isSpent(response) ? { transient: false } : {}),
    status: statusCode,
    retryAfterMs: retryAfterMs(responseHeaders),
    call: { request: error.requestBodyValues, response },
    cause: error,
  })
}

/** What the SDK could not read or write, or a connection that broke outside its view. */
function otherError(error: unknown, model: string): unknown {
  const kind = otherKind(error)
  if (kind === undefined) return error
  return new ModelError(`model '${model}': ${errorMessage(error)}`, { kind, model, cause: error })
}

const UNREADABLE =
  /^AI_(InvalidResponseData|TypeValidation|JSONParse|NoContentGenerated|EmptyResponseBody)Error$/
const UNWRITABLE = /^AI_(UnsupportedFunctionality|InvalidPrompt|InvalidArgument)Error$/

function otherKind(error: unknown): ModelErrorKind | undefined {
  if (!(error instanceof Error)) return undefined
  if (UNWRITABLE.test(error.name)) return 'request'
  // Providers that find something else than they expect in an answer fail by what JavaScript throws.
  if (UNREADABLE.test(error.name)) return 'response'
  return transientFacts(error)?.kind ?? (error instanceof TypeError ? 'response' : undefined)
}

const BY_STATUS: Readonly<Record<number, ModelErrorKind>> = {
  401: 'authentication',
  403: 'authentication',
  404: 'not-found',
  408: 'timeout',
  409: 'overloaded',
  413: 'context-length',
  425: 'overloaded',
  429: 'rate-limit',
}

/** No provider but OpenAI has a code for it. */
const CONTEXT_LENGTH =
  /context_length_exceeded|exceed_context_size|prompt is too long|maximum context length|input token count.*exceeds|context window/is

function kindOf({ statusCode, isRetryable }: APICallError, response: unknown): ModelErrorKind {
  if (statusCode === undefined) return isRetryable ? 'connection' : 'other'
  if (statusCode < 400) return isRetryable ? 'connection' : 'response'
  if (statusCode >= 500) return 'overloaded'
  if (statusCode === 400 && CONTEXT_LENGTH.test(JSON.stringify(response ?? ''))) return 'context-length'
  return BY_STATUS[statusCode] ?? 'request'
}

/** OpenAI refuses calls of an account without credit with the status for too many of them. */
function isSpent(response: unknown): boolean {
  const { code, type } = (response as { error?: { code?: unknown; type?: unknown } } | undefined)?.error ?? {}
  return code === 'insufficient_quota' || type === 'insufficient_quota'
}

function messageOf({ message, statusCode }: APICallError, model: string, response: unknown): string {
  const said = (response as { error?: { message?: unknown } } | undefined)?.error?.message
  const text = typeof said === 'string' && said !== '' ? said : message
  const status = statusCode === undefined ? '' : ` (status ${statusCode})`
  return `model '${model}'${status}: ${text.slice(0, 2000)}`
}

function parsed(body: string | undefined): unknown {
  if (body === undefined) return undefined
  try {
    return JSON.parse(body)
  } catch {
    return body.slice(0, 20_000)
  }
}
