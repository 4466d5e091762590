import { APICallError } from '@ai-sdk/provider'
import { errorMessage, ModelError, type ModelErrorKind } from '../../../errors.ts'
import { transientFacts } from '../../calls/retry.ts'
import { retryAfterMs } from './retry-after.ts'

/** Whatever `doGenerate` threw, as what callers catch. Errors that are not of the call are left as they are. */
export function toModelError(error: unknown, model: string, request: unknown): unknown {
  if (error instanceof ModelError) return error
  if (!APICallError.isInstance(error)) return otherError(error, model, request)
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

/** An answer that the SDK could not make sense of, or a connection that broke outside its view. */
function otherError(error: unknown, model: string, request: unknown): unknown {
  const isUnreadable =
    error instanceof Error &&
    /^AI_(InvalidResponseData|TypeValidation|JSONParse|NoContentGenerated|EmptyResponseBody)Error$/.test(
      error.name,
    )
  const kind = isUnreadable ? 'response' : transientFacts(error)?.kind
  if (kind === undefined) return error
  return new ModelError(`model '${model}': ${errorMessage(error)}`, {
    kind,
    model,
    call: { request, response: (error as { data?: unknown }).data },
    cause: error,
  })
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
