import { deepStrictEqual, fail, ok } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type FileErrorKind, SandboxFileError } from '../errors.ts'
import type { ExecResult } from '../sandbox/sandbox.ts'

export function expectEqual(actual: unknown, expected: unknown, what?: string): void {
  if (what === undefined) deepStrictEqual(actual, expected)
  else deepStrictEqual({ [what]: actual }, { [what]: expected })
}

export function expectTrue(value: boolean, what: string): void {
  ok(value, `expected ${what}`)
}

/** Looks at those fields alone that `expected` has. */
export function expectFields<T extends object>(actual: T, expected: Partial<T>): void {
  const seen = Object.fromEntries(Object.keys(expected).map((key) => [key, actual[key as keyof T]]))
  deepStrictEqual(seen, expected)
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Compares by length and hash, so that a failure does not print what was compared. */
export function expectBytes(actual: Uint8Array | undefined, expected: Uint8Array, what = 'bytes'): void {
  const seen = actual ?? new Uint8Array()
  deepStrictEqual(
    { what, length: seen.length, sha256: sha256(seen) },
    { what, length: expected.length, sha256: sha256(expected) },
  )
}

/** A command that was expected to succeed. */
export function expectSuccess(result: ExecResult): ExecResult {
  const { exitCode, signal, launchError, stderr } = result
  if (exitCode !== 0)
    fail(`expected exit code 0, got ${JSON.stringify({ exitCode, signal, launchError, stderr })}`)
  return result
}

type ErrorClass<E> = abstract new (...args: never[]) => E

/** The error with which a call ends; anything but one of that class is a failure. */
export async function expectError<E extends Error>(
  call: Promise<unknown>,
  expected: ErrorClass<E>,
): Promise<E> {
  let value: unknown
  try {
    value = await call
  } catch (error) {
    if (error instanceof expected) return error
    throw error
  }
  return fail(`expected ${expected.name}, got the value ${describe(value)}`)
}

/** A file call ends with an error of one of these kinds that names the path. */
export async function expectFileError(
  call: Promise<unknown>,
  kinds: FileErrorKind | readonly FileErrorKind[],
): Promise<SandboxFileError> {
  const error = await expectError(call, SandboxFileError)
  const allowed = [kinds].flat()
  if (!allowed.includes(error.kind))
    fail(`expected a file error '${allowed.join("' or '")}', got '${error.kind}': ${error.message}`)
  return error
}

function describe(value: unknown): string {
  return value instanceof Uint8Array
    ? `of ${value.length} bytes`
    : (JSON.stringify(value)?.slice(0, 300) ?? 'undefined')
}
