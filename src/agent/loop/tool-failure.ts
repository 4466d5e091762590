import { ExecTimeoutError, type FileErrorKind, SandboxFileError } from '../../errors.ts'
import type { ToolError, ToolErrorKind } from '../messages.ts'
import { outputTail } from '../output-text.ts'
import { ToolCallError } from '../tool.ts'

/** What the model is told: the error, and the text shown, which may also hold output. */
export interface ToolFailure {
  readonly error: ToolError
  readonly content: string
}

const FILE_ERRORS: Partial<Record<FileErrorKind, ToolErrorKind>> = {
  'not-found': 'not-found',
  permission: 'permission',
  'too-large': 'output-limit',
}

/** The failure as the model sees it; undefined when it is not of the model's making and must end the sample. */
export function toolFailure(error: unknown): ToolFailure | undefined {
  if (error instanceof ToolCallError) return failure(error.kind, error.message, error.output)
  if (error instanceof ExecTimeoutError) {
    const message = `the command was stopped after ${error.timeoutMs / 1000} seconds`
    return failure('timeout', message, outputTail(error.partial))
  }
  if (error instanceof SandboxFileError) return failure(FILE_ERRORS[error.kind] ?? 'failed', error.message)
  return undefined
}

function failure(kind: ToolErrorKind, message: string, output = ''): ToolFailure {
  return { error: { kind, message }, content: output === '' ? message : `${message}\n${output}` }
}
